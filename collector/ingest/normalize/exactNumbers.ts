/**
 * Integers beyond 2^53 keep their digits, which JavaScript's numbers lose. During the checks such a number is
 * a text that no sender can write, and the row contains the number again. If it exceeds 64 bits, the row has
 * its digits as a text, because ClickHouse's parser rejects a document with such a number.
 */
import { randomBytes } from 'node:crypto'

const mark = `${randomBytes(16).toString('hex')}:`

/**
 * 16 consecutive digits, possibly in a string: only such texts are parsed further. Every text is tested, and
 * V8 scans this form ten times as fast as `\d{16}`.
 */
const longInteger = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/
/** In valid JSON: a string, or a number that may be an integer. */
const stringOrInteger = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const markedNumber = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/** Whether a text represents an integer, which code for texts must skip. */
export const isMarkedInteger = (text: string): boolean => text.startsWith(mark)

/** Returns JSON with long integers as marked texts; null if it has none, which is nearly always. */
export function markLongIntegers(json: string): string | null {
  if (!longInteger.test(json)) return null
  const marked = json.replace(stringOrInteger, (found) =>
    /^-?\d{16,}$/.test(found) && !Number.isSafeInteger(Number(found)) ? `"${mark}${found}"` : found,
  )
  return marked === json ? null : marked
}

/** Returns JSON with numbers in place of marked texts, or with texts in place of those beyond 64 bits. */
export const unmarkLongIntegers = (json: string): string =>
  json.includes(mark)
    ? json.replace(markedNumber, (_, digits: string) =>
        fits64Bits(digits) ? digits : `"${digits}"`,
      )
    : json

/** Returns JSON of JSON.stringify with its numbers in stored form: marked ones, and long ones. */
export const storedNumbers = (json: string): string =>
  longInteger.test(json) ? unmarkLongIntegers(withExponents(json)) : json

/** Numbers from 2^64 on get an exponent, because ClickHouse's parser rejects such integers. */
const withExponents = (json: string): string =>
  json.replace(stringOrInteger, (found) =>
    /^-?\d{19,}$/.test(found) && !fits64Bits(found) ? Number(found).toExponential() : found,
  )

function fits64Bits(digits: string): boolean {
  if (digits.length > 20) return false
  const integer = BigInt(digits)
  return integer >= -(2n ** 63n) && integer < 2n ** 64n
}
