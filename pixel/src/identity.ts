import { hasConsent } from './consent.ts'
import { safely } from './guard.ts'
import { uuid } from './uuid.ts'

const name = 'footfall_id'

let id: string | undefined

/** The id of this browser; undefined without consent. It is kept for 13 months from each visit. */
export const cookieId = (): string | undefined => {
  if (!hasConsent()) return
  if (!id) keepId(read() || uuid())
  return id
}

/** Keeps the id the collector answered: its own cookie may know this browser from before. */
export const keepId = (value: string): void => {
  if (!value || value === id || !hasConsent()) return
  forgetId()
  id = value
  const thirteenMonths = 34_128_000
  // Sandboxed frames, file: pages and blocked cookies leave localStorage.
  if (!safely(writeCookie)(value, thirteenMonths)) safely(() => localStorage.setItem(name, value))()
}

export const forgetId = (): void => {
  id = undefined
  safely(writeCookie)('', 0)
  safely(() => localStorage.removeItem(name))()
}

const read = () => {
  const cookies = safely(() => document.cookie)()
  const stored = safely(() => localStorage.getItem(name))()
  return /footfall_id=([\da-f-]{36})/.exec(`${cookies};${name}=${stored}`)?.[1]
}

/**
 * For www.shop.co.uk tries uk, co.uk, shop.co.uk, www.shop.co.uk, and last no domain. Browsers refuse a
 * cookie on a public suffix, so the first that takes is the registrable domain. No value goes everywhere.
 */
const writeCookie = (value: string, seconds: number) => {
  const secure = location.protocol === 'https:' ? ';secure' : ''
  const labels = location.hostname.split('.')
  return [...labels.map((_, at) => `;domain=${labels.slice(-1 - at).join('.')}`), ''].some((domain) => {
    // biome-ignore lint/suspicious/noDocumentCookie: cookieStore is for secure contexts only, and asynchronous
    document.cookie = `${name}=${value};path=/;samesite=lax;max-age=${seconds}${domain}${secure}`
    return value && document.cookie.includes(value)
  })
}
