import { isMarkedInteger } from './exactNumbers.ts'

/** Whether a value is a text, and not a marked integer. */
export const isText = (value: unknown): value is string =>
  typeof value === 'string' && !isMarkedInteger(value)

export const textOf = (value: unknown): string | undefined => (isText(value) ? value : undefined)

/** NaN for other values, which schemas refuse. */
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

/** At most `length` characters, without half a surrogate pair at the end. */
export const cut = (value: unknown, length: number): string | undefined => {
  const text = textOf(value)
  // The pixel may have cut it within a pair, at the same length.
  if (text === undefined || text.length < length) return text
  const isHalved = /[\ud800-\udbff]/.test(text.charAt(length - 1))
  return text.slice(0, isHalved ? length - 1 : length)
}

/** Collapses white space to single spaces, as browsers display it. */
export const clean = (value: unknown): string | undefined =>
  textOf(value)?.replace(/\s+/g, ' ').trim()

/**
 * JSON, as JSON.stringify writes it, with well-formed texts and keys. Lone surrogates, for which ClickHouse
 * refuses a row, and U+0000, which other programs cannot store, become U+FFFD. For an object or text that is
 * not deep.
 */
export const wellFormedJson = (json: string): string =>
  // JSON.stringify writes both as escapes, and nearly no text has one.
  json.includes('\\') && (json.includes('\\u0000') || json.includes('\\ud'))
    ? JSON.stringify(repaired(JSON.parse(json)))
    : json

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [wellFormed(key), repaired(part)]),
  )
}

/** Returns the text with U+FFFD in place of half surrogate pairs and U+0000. */
export const wellFormed = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
