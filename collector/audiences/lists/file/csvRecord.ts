import type { Reason } from '../reasons.ts'
import { recordBytesMax } from './importFile.ts'

const newline = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const space = 0x20
const tab = 0x09

interface CsvRecord extends CsvField {
  /** The start of the next row. */
  end: number
  /** The reason if the row is invalid; then it is one line, and the next line is parsed separately. */
  fault: Reason | null
  fields: number
}

/** A field: bytes from `from` to `to`; if `isQuoted`, quotes within it are doubled. */
export interface CsvField {
  from: number
  to: number
  isQuoted: boolean
}

/**
 * Reads the row that begins at `start` (RFC 4180, also with other delimiters, white space around quotes, and
 * lines that end in LF). Returns its field number `index`, and passes each field to `note`. A quoted field
 * may contain line breaks. `bytes` contain the longest possible row, or reach the end of the file. An
 * unclosed quote rejects only its own line. Its end is not searched twice, since a quote in the lines between
 * would close it.
 */
export function readCsvRecord(
  bytes: Buffer,
  start: number,
  delimiter: number,
  index: number,
  note?: (field: CsvField) => void,
): CsvRecord {
  const record: CsvRecord = {
    end: 0,
    fault: null,
    fields: 0,
    from: start,
    to: start,
    isQuoted: false,
  }
  const isBlank = (byte: number | undefined) =>
    byte === space || (byte === tab && delimiter !== tab)
  for (let at = start; ; at++) {
    let from = at
    while (isBlank(bytes[at])) at++
    const isQuoted = bytes[at] === quote
    let to: number
    if (isQuoted) {
      from = at + 1
      to = closingQuote(bytes, from, start + recordBytesMax)
      if (to === -1) return faulty(record, bytes, start, 'unclosed_quote')
      at = to + 1
      while (isBlank(bytes[at]) || bytes[at] === carriageReturn) at++
      const next = bytes[at]
      if (next !== undefined && next !== delimiter && next !== newline)
        return faulty(record, bytes, start, 'text_after_quote')
    } else {
      while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== newline) at++
      to = at
    }
    if (record.fields === index) Object.assign(record, { from, to, isQuoted })
    note?.({ from, to, isQuoted })
    record.fields++
    if (at >= bytes.length || bytes[at] === newline) {
      record.end = Math.min(at + 1, bytes.length)
      return record
    }
  }
}

export function fieldOf(bytes: Buffer, { from, to, isQuoted }: CsvField): Buffer {
  const field = bytes.subarray(from, to)
  return isQuoted && field.includes(quote)
    ? Buffer.from(field.toString('utf8').replaceAll('""', '"'))
    : field
}

function faulty(record: CsvRecord, bytes: Buffer, start: number, fault: Reason): CsvRecord {
  return { ...record, fault, end: bytes.indexOf(newline, start) + 1 || bytes.length }
}

/** Returns the position of the closing quote; a doubled quote is part of the text. */
function closingQuote(bytes: Buffer, from: number, before: number): number {
  for (
    let at = bytes.indexOf(quote, from);
    at !== -1 && at < before;
    at = bytes.indexOf(quote, at + 2)
  ) {
    if (bytes[at + 1] !== quote) return at
  }
  return -1
}
