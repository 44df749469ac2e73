import { createHash } from 'node:crypto'
import type { Parsed } from './definition.ts'

/** Returns JSON with sorted members, so that equal values have equal texts. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

/**
 * Returns a text that is equal for definitions with the same members, whatever the order of their properties
 * and their defaults.
 */
export const meaningOf = ({ leaves, ...trees }: Parsed): string =>
  canonicalJson({ ...trees, leaves: leaves.map(({ pointer: _, ...leaf }) => leaf) })

/** Returns the first 128 bits of a text's SHA-256 as a UUID (RFC 9562, version 8). */
export function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
