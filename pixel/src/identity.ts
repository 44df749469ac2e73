import { attempt } from './guard.ts'

const name = 'footfall_id'
const thirteenMonths = 34_128_000

/** The id of this browser, once it was needed. */
export let id: string | undefined

/** Browsers name each blob URL by an UUID: also where crypto.randomUUID is missing, on pages without https. */
export const uuid = (): string => URL.createObjectURL(new Blob()).slice(-36)

/** What is kept of this browser: its id, or that it opted out. */
export const readId = (): string | undefined =>
  attempt(() => /footfall_id=([\w-]+)/.exec(document.cookie)![1]) || attempt(() => localStorage[name])

/** Keeps an id in a cookie for all sub-domains, and in storage: blocked cookies and file: pages leave that. */
export const keepId = (value: string | undefined): void => {
  if (!value || value === id) return
  forgetId()
  id = value
  writeCookie(value, thirteenMonths)
  attempt(() => {
    localStorage[name] = value
  })
}

export const forgetId = (): void => {
  id = undefined
  writeCookie('', 0)
  attempt(() => delete localStorage[name])
}

/**
 * For www.shop.co.uk tries uk, co.uk, shop.co.uk and www.shop.co.uk. Browsers refuse a cookie on a public suffix, so
 * the first that takes is the registrable domain. No value goes everywhere.
 */
const writeCookie = (value: string, seconds: number) =>
  attempt(() =>
    location.hostname.split('.').some((_, at, labels) => {
      // biome-ignore lint/suspicious/noDocumentCookie: cookieStore is for secure contexts only, and asynchronous
      document.cookie = `${name}=${value};path=/;samesite=lax;max-age=${seconds};domain=${labels.slice(~at).join('.')}`
      return value && document.cookie.includes(value)
    }),
  )
