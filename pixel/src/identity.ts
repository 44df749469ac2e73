import { attempt, store } from './safe.ts'

const name = 'footfall_id'
const thirteenMonths = 34_100_000

/** The id of this browser, after its first use. */
export let id: string | undefined

/**
 * Browsers name each blob URL by an UUID: also where crypto.randomUUID is missing, on pages without https. To make one
 * takes longer, for another process is asked.
 */
export const uuid = (): string =>
  attempt(() => crypto.randomUUID()) || URL.createObjectURL(new Blob()).slice(-36)

/**
 * The stored id of this browser, or its opt-out. Avoids exceptions if there is none, because they are slow.
 */
export const readId = (): string | undefined =>
  id ||
  attempt(() => /footfall_id=([\w-]+)/.exec(document.cookie)?.[1]) ||
  attempt(() => localStorage[name])

/**
 * Keeps an id in a cookie for all sub-domains, and in storage: blocked cookies and file: pages leave that. Without a
 * value it is forgotten. For www.shop.co.uk tries co.uk, shop.co.uk and www.shop.co.uk: browsers refuse a cookie on a
 * public suffix, so the first that takes is the registrable domain. Each try asks another process: none for uk alone,
 * nor whether the last took.
 */
export const keepId = (value?: string): void => {
  if (value && value === id) return
  id = value
  const isStored = store(name, value)
  attempt(() =>
    location.hostname.split('.').some((_, at, labels) => {
      // biome-ignore lint/suspicious/noDocumentCookie: cookieStore is for secure contexts only, and asynchronous
      document.cookie = `${name}=${value};path=/;max-age=${value ? thirteenMonths : 0};domain=${labels.slice(-2 - at).join('.')}`
      return value && (!labels[at + 2] || document.cookie.includes(value))
    }),
  )
  // An id that nothing keeps would make each page a visitor of its own.
  if (value && !isStored && !attempt(() => document.cookie.includes(value))) id = undefined
}
