import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { countLines } from '../../../identity/load/records.ts'
import { type Reason, reasonNames } from '../reasons.ts'
import { fieldOf, readCsvRecord } from './csvRecord.ts'
import { type ImportFile, recordBytesMax } from './importFile.ts'

/** Rows in RowBinary: the line from 0 (UInt32), the reason from 1, or 0 (UInt8), the text. */
interface EncodedRows {
  readonly bytes: Buffer
  readonly rows: number
  /** Length of the encoded input. */
  readonly length: number
}

const newline = 0x0a
/** More short rows would need much more memory here than in the file. */
const rowsMax = 250_000
/** Number of rows after which other work of this process runs. */
const rowsOfTurn = 2_000
/** Most bytes of a row's line, reason and text length. */
const headBytes = 4 + 1 + 3

const none = Buffer.alloc(0)

/**
 * Parses rows that ClickHouse cannot parse by line: quotes, which may span lines, and invalid UTF-8. For CSV
 * the text is the field of the item, for NDJSON the line. Rows at the end that may be incomplete are left for
 * the next call, unless `isLast`.
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
    const newlineAt = bytes.indexOf(newline, start)
    if (newlineAt === -1 && !isLast) break
    const lineEnd = newlineAt === -1 ? bytes.length : newlineAt + 1
    const whole = bytes.subarray(start, newlineAt === -1 ? lineEnd : newlineAt)
    let end = lineEnd
    let fault = faultOfLine(whole)
    let text: Buffer = none
    if (fault === null && file.format === 'ndjson') text = whole
    else if (fault === null) {
      const record = readCsvRecord(bytes, start, delimiter, file.index)
      // After an invalid row, the lines after its first one are parsed separately.
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

/** Returns the same reasons as linesQuery.ts for unchanged lines, in the same order. */
function faultOfLine(line: Buffer): Reason | null {
  if (line.length > recordBytesMax) return 'too_long'
  return isBlank(line) ? 'empty_line' : faultOfBytes(line)
}

/** Checks the other lines of a row that spans several lines. */
const faultOfRecord = (record: Buffer): Reason | null =>
  record.length > recordBytesMax ? 'unclosed_quote' : faultOfBytes(record)

const faultOfBytes = (bytes: Buffer): Reason | null =>
  !isUtf8(bytes) ? 'not_utf8' : bytes.includes(0) ? 'nul_byte' : null

const blanks = new Set([...' \t\n\r'].map((sign) => sign.charCodeAt(0)))
const isBlank = (line: Buffer): boolean => line.every((byte) => blanks.has(byte))

/** Writes LEB128, RowBinary's format of lengths. */
function writeVarint(out: Buffer, value: number, at: number): number {
  let left = value
  while (left > 0x7f) {
    at = out.writeUInt8((left & 0x7f) | 0x80, at)
    left >>>= 7
  }
  return out.writeUInt8(left, at)
}
