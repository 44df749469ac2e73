import { randomBytes } from 'node:crypto'

/** RFC 9562 version 7: 48 bits of milliseconds, then random bits, so that ids sort by age. */
export function uuidV7(atMs = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(atMs, 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
