import { createHash } from 'node:crypto'
import { canonicalJson } from '../../platform/canonicalJson.ts'
import type { Parsed } from './definition.ts'

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
