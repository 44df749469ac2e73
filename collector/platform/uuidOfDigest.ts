import { createHash, createHmac } from 'node:crypto'

/** The first 16 bytes as a UUID of version 8 (RFC 9562). Changes the digest. */
export function uuidOfDigest(digest: Buffer): string {
  digest[6] = (digest[6]! & 0x0f) | 0x80
  digest[8] = (digest[8]! & 0x3f) | 0x80
  return digest
    .toString('hex', 0, 16)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Derives a UUID that is always the same for this text. */
export const uuidOfText = (text: string): string =>
  uuidOfDigest(createHash('sha256').update(text).digest())

/**
 * Converts a digest to the UUID of a visitor for one day. Its third group is 8000, which other UUIDs from digests do not
 * have. Changes the digest.
 */
export function dayUuidOf(digest: Buffer): string {
  digest.fill(0, 6, 8)
  return uuidOfDigest(digest)
}

/** Returns SQL of whether a column has such a UUID. */
export const isDayUuid = (column: string): string =>
  `substring(toString(${column}), 15, 4) = '8000'`

/** Derives a UUID that is always the same for this text, and that nobody without the key can compute. */
export function secretUuidOf(key: string, text: string): string {
  const digest = createHmac('sha256', key).update(text).digest()
  digest[7]! |= 1
  return uuidOfDigest(digest)
}
