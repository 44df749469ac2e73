import { createHash } from 'node:crypto'
import { normalizedEmail } from './normalizedEmail.ts'

/** Returns the hem of an address: SHA-256, in hex, of the trimmed, lower-cased address. */
export const hemOf = (email: string): string =>
  createHash('sha256').update(normalizedEmail(email)).digest('hex')

/** Whether a text, in lower case, is a hem. */
export const isHem = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/**
 * Whether a trimmed text looks like an e-mail address: something, an @, a domain (RFC 5321: at most 254 characters).
 */
export const isEmail = (text: string): boolean =>
  text.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(text)
