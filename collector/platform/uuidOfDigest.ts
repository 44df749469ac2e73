import { createHmac } from 'node:crypto'

/**
 * Converts the first 16 bytes of a digest to a UUID of version 8 (RFC 9562), which allows custom bits.
 * Changes the digest.
 */
export function uuidOfDigest(digest: Buffer): string {
  digest[6] = (digest[6]! & 0x0f) | 0x80
  digest[8] = (digest[8]! & 0x3f) | 0x80
  return digest
    .toString('hex', 0, 16)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Derives a UUID that is always the same for this text, and that nobody without the key can compute. */
export const secretUuidOf = (key: string, text: string): string =>
  uuidOfDigest(createHmac('sha256', key).update(text).digest())
