/**
 * Integers beyond 2^53 keep their digits, which JavaScript's numbers lose. During the checks such a number is
 * a text that no sender can write, and the row contains the number again. If it exceeds 64 bits, the row has
 * its digits as a text, because ClickHouse's parser rejects a document with such a number.
 */
import { randomBytes } from 'node:crypto'

const mark = `${randomBytes(16).toString('hex')}:`

/**
 * 16 digits in a row, in a string perhaps: only texts that have them need a closer look. Every text is asked, and written
 * out V8 skips through it at ten times the speed of `\d{16}`.
 */
const longInteger = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/
/** A string, or a number that is an integer; of valid JSON. */
const stringOrInteger = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const markedNumber = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/** Whether a text represents an integer, which code for texts must skip. */
export const isMarkedInteger = (text: string): boolean => text.startsWith(mark)

/** JSON whose long integers are marked texts; null where it has none, which is nearly always. */
export function markLongIntegers(json: string): string | null {
  if (!longInteger.test(json)) return null
  const marked = json.replace(stringOrInteger, (found) =>
    /^-?\d{16,}$/.test(found) && !Number.isSafeInteger(Number(found)) ? `"${mark}${found}"` : found,
  )
  return marked === json ? null : marked
}

/** JSON with numbers in place of marked texts, or with texts in place of those beyond 64 bits. */
export const unmarkLongIntegers = (json: string): string =>
  json.includes(mark)
    ? json.replace(markedNumber, (_, digits: string) =>
        fits64Bits(digits) ? digits : `"${digits}"`,
      )
    : json

/** JSON, as JSON.stringify writes it, with its numbers as they are stored: those that were marked, and long ones. */
export const storedNumbers = (json: string): string =>
  longInteger.test(json) ? unmarkLongIntegers(withExponents(json)) : json

/** Numbers from 2^64 on get an exponent: without one they are integers, which ClickHouse's parser does not read. */
const withExponents = (json: string): string =>
  json.replace(stringOrInteger, (found) =>
    /^-?\d{19,}$/.test(found) && !fits64Bits(found) ? Number(found).toExponential() : found,
  )

function fits64Bits(digits: string): boolean {
  if (digits.length > 20) return false
  const integer = BigInt(digits)
  return integer >= -(2n ** 63n) && integer < 2n ** 64n
}
