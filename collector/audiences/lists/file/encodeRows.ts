import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { countLines } from '../../../identity/load/records.ts'
import { type Reason, reasonNames } from '../reasons.ts'
import { fieldOf, readCsvRecord } from './csvRecord.ts'
import { type ImportFile, recordBytesMax } from './importFile.ts'

/** Rows in ClickHouse's RowBinary: the line from 0 (UInt32), the reason's number from 1 or 0 (UInt8), the text. */
export interface EncodedRows {
  readonly bytes: Buffer
  readonly rows: number
  /** Length of the input that they cover. */
  readonly length: number
}

const newline = 0x0a
/** More rows of few bytes would be much larger here than in the file. */
const rowsMax = 250_000
/** Number of rows after which other work of this process runs. */
const rowsOfTurn = 2_000
/** Line, reason and the length of a text, at most. */
const headBytes = 4 + 1 + 3

const none = Buffer.alloc(0)

/**
 * Takes rows apart here that hold what no one line tells: quotes, which may span lines, and bytes that are no UTF-8. Of
 * CSV the text is the field of the item, of NDJSON the line. The last rows are left for the next time unless `isLast`:
 * those whose end may lie behind the bytes.
 */
export async function encodeRows(
  file: ImportFile,
  bytes: Buffer,
  isLast: boolean,
): Promise<EncodedRows> {
  const delimiter = file.delimiter.charCodeAt(0)
  const before = isLast ? bytes.length : bytes.length - 2 * recordBytesMax
  let out = Buffer.allocUnsafe(Math.min(bytes.length, 1 << 20) + headBytes)
  let length = 0
  let rows = 0
  let line = 0
  let start = 0
  const write = (fault: Reason | null, text: Buffer) => {
    if (out.length - length < text.length + headBytes) {
      const larger = Buffer.allocUnsafe(2 * out.length + text.length + headBytes)
      out.copy(larger, 0, 0, length)
      out = larger
    }
    length = out.writeUInt32LE(line, length)
    length = out.writeUInt8(fault === null ? 0 : reasonNames.indexOf(fault) + 1, length)
    length = writeVarint(out, text.length, length)
    length += text.copy(out, length)
    rows++
  }
  while (start < bytes.length && start < before && rows < rowsMax) {
    if (rows > 0 && rows % rowsOfTurn === 0) await nextTurn()
    const found = bytes.indexOf(newline, start)
    if (found === -1 && !isLast) break
    const lineEnd = found === -1 ? bytes.length : found + 1
    const whole = bytes.subarray(start, found === -1 ? lineEnd : found)
    let end = lineEnd
    let fault = faultOfLine(whole)
    let text: Buffer = none
    if (fault === null && file.format === 'ndjson') text = whole
    else if (fault === null) {
      const record = readCsvRecord(bytes, start, delimiter, file.index)
      // Of a row that cannot be read the lines after its first are looked at on their own.
      fault = record.fault ?? faultOfRecord(bytes.subarray(start, record.end))
      if (fault === null) {
        end = record.end
        if (record.fields === file.fields) text = fieldOf(bytes, record)
        else fault = 'wrong_field_count'
      }
    }
    write(fault, text)
    line += end === lineEnd ? 1 : countLines(bytes.subarray(start, end))
    start = end
  }
  return { bytes: out.subarray(0, length), rows, length: start }
}

/** What linesQuery.ts says of lines that come as they are, in the same order. */
function faultOfLine(line: Buffer): Reason | null {
  if (line.length > recordBytesMax) return 'too_long'
  return isBlank(line) ? 'empty_line' : faultOfBytes(line)
}

/** Of a row of several lines, what may be wrong with the others. */
const faultOfRecord = (record: Buffer): Reason | null =>
  record.length > recordBytesMax ? 'unclosed_quote' : faultOfBytes(record)

const faultOfBytes = (bytes: Buffer): Reason | null =>
  !isUtf8(bytes) ? 'not_utf8' : bytes.includes(0) ? 'nul_byte' : null

const blanks = new Set([...' \t\n\r'].map((sign) => sign.charCodeAt(0)))
const isBlank = (line: Buffer): boolean => line.every((byte) => blanks.has(byte))

/** LEB128, as RowBinary has lengths. */
function writeVarint(out: Buffer, value: number, at: number): number {
  let left = value
  while (left > 0x7f) {
    at = out.writeUInt8((left & 0x7f) | 0x80, at)
    left >>>= 7
  }
  return out.writeUInt8(left, at)
}
