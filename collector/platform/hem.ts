import { createHash } from 'node:crypto'
import { normalizedEmail, withoutEmailMarkup } from './normalizedEmail.ts'

/** Returns the hem of an address: SHA-256, in hex, of the trimmed, lower-cased address without markup around it. */
export const hemOf = (email: string): string =>
  createHash('sha256')
    .update(normalizedEmail(withoutEmailMarkup(email)))
    .digest('hex')

/**
 * Returns the hash of an address in the form of Unified ID 2.0, in hex. An address at gmail.com loses its dots and the
 * part after a plus (https://unifiedid.com/docs/getting-started/gs-normalization-encoding).
 */
export function uid2HashOf(email: string): string {
  const [local, domain] = normalizedEmail(withoutEmailMarkup(email)).split('@')
  return hemOf(domain === 'gmail.com' ? `${local!.replace(/\+.*|\./g, '')}@gmail.com` : email)
}

/** Whether a text, in lower case, is a hem. */
export const isHem = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/**
 * Whether a text, without markup around it, looks like an e-mail address: something, an @, a domain with a dot (RFC 5321:
 * at most 254 characters).
 */
export const isEmail = (text: string): boolean => {
  const address = withoutEmailMarkup(text)
  return address.length <= 254 && /^[^\s@<>]+@[^\s@.<>]+(\.[^\s@.<>]+)+$/.test(address)
}
