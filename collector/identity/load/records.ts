/** Finds where records begin and end: at line breaks, except those in quoted text of CSV. */
import type { Format } from './source.ts'

const newline = 0x0a
const quote = 0x22
const comma = 0x2c

/** The bytes end within a record: outside of a quoted text, or inside one. */
const noEnd = -1
export const openQuote = -2

/** A record: bytes from `start` to `end`, its line break included. */
interface Extent {
  readonly start: number
  readonly end: number
  /** Number of lines before the record. */
  readonly lines: number
  /** False for a record with an unclosed quote. */
  readonly isWhole: boolean
}

/** Returns the end of the record at `start`, its line break included; negative if the bytes end earlier. */
export function endOfRecord(bytes: Buffer, format: Format, start = 0): number {
  if (format !== 'csv') return bytes.indexOf(newline, start) + 1 || noEnd
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === newline) return at + 1
    if (byte === quote && opensText(bytes, at)) {
      at = closingQuote(bytes, at)
      if (at === -1) return openQuote
    }
  }
  return noEnd
}

/** The end of the last complete record; 0 without one. */
export function endOfLastRecord(bytes: Buffer, format: Format): number {
  if (format !== 'csv' || !bytes.includes(quote)) return bytes.lastIndexOf(newline) + 1
  let end = 0
  for (let next = endOfRecord(bytes, format); next > 0; next = endOfRecord(bytes, format, next))
    end = next
  return end
}

/** Whether a quote opens a text: only at the beginning of a field. */
function opensText(bytes: Buffer, at: number): boolean {
  for (let before = at - 1; before >= 0; before--) {
    const byte = bytes[before]
    if (byte === comma || byte === newline) return true
    if (byte !== 0x20 && byte !== 0x09) return false
  }
  return true
}

/** Returns the position of the closing quote; a doubled quote is part of the text. */
function closingQuote(bytes: Buffer, opening: number): number {
  for (let at = bytes.indexOf(quote, opening + 1); at !== -1; at = bytes.indexOf(quote, at + 2)) {
    if (bytes[at + 1] !== quote) return at
  }
  return -1
}

/** Returns all records that are not empty. */
export function* recordsOf(bytes: Buffer, format: Format): Generator<Extent> {
  let lines = 0
  for (let start = 0; start < bytes.length; ) {
    const found = endOfRecord(bytes, format, start)
    const end = found < 0 ? bytes.length : found
    const record = bytes.subarray(start, end)
    if (record.toString('latin1').trim() !== '')
      yield { start, end, lines, isWhole: found !== openQuote }
    lines += countLines(record)
    start = end
  }
}

export function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count++
  return count
}
