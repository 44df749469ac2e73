import { isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import { countLines } from '../../../identity/load/records.ts'
import { encodeRows } from './encodeRows.ts'
import { type ImportFile, recordBytesMax } from './importFile.ts'

/** A position in a file: bytes and lines before it. */
export interface FilePosition {
  readonly bytes: number
  readonly lines: number
}

/** Complete rows of a file that are inserted together. */
export interface Chunk {
  /** `lines`: unchanged lines of the file, one row each. `rows`: output of encodeRows. */
  readonly as: 'lines' | 'rows'
  readonly bytes: Buffer
  readonly rows: number
  readonly begin: FilePosition
  readonly end: FilePosition
}

/** Large enough for an efficient part of ClickHouse, with little memory. */
export const chunkBytes = 8 * 1024 * 1024

const newline = 0x0a
const quote = 0x22

/**
 * Reads the rows at a position into `buffer`, which is `chunkBytes` long; null at the end. The same position
 * returns the same rows. If each line is a row that ClickHouse can parse, the lines are not parsed here.
 */
export async function readChunk(
  handle: FileHandle,
  file: ImportFile,
  begin: FilePosition,
  buffer: Buffer,
): Promise<Chunk | null> {
  const bytes = await readWhole(handle, buffer, begin.bytes, file.bytes)
  if (bytes.length === 0) return null
  const isLast = begin.bytes + bytes.length >= file.bytes
  const end = isLast ? bytes.length : bytes.lastIndexOf(newline) + 1
  if (end === 0) return skipLongLine(handle, file, begin, buffer)
  const isPlain =
    isUtf8(bytes.subarray(0, end)) &&
    !bytes.includes(0) &&
    (file.format === 'ndjson' || !bytes.includes(quote))
  if (isPlain) return chunkOf(file, begin, bytes.subarray(0, end), 'lines')
  const encoded = await encodeRows(file, bytes.subarray(0, isLast ? end : bytes.length), isLast)
  // The line is longer than the buffer.
  if (encoded.length === 0) return skipLongLine(handle, file, begin, buffer)
  const place = {
    bytes: begin.bytes + encoded.length,
    lines: begin.lines + linesOf(file, begin, bytes.subarray(0, encoded.length)),
  }
  return { as: 'rows', bytes: encoded.bytes, rows: encoded.rows, begin, end: place }
}

function chunkOf(file: ImportFile, begin: FilePosition, bytes: Buffer, as: Chunk['as']): Chunk {
  const lines = linesOf(file, begin, bytes)
  const end = { bytes: begin.bytes + bytes.length, lines: begin.lines + lines }
  return { as, bytes, rows: lines, begin, end }
}

/** Counts lines, including a last line without a line break. */
const linesOf = (file: ImportFile, begin: FilePosition, bytes: Buffer): number =>
  countLines(bytes) +
  (begin.bytes + bytes.length >= file.bytes && bytes.length > 0 && bytes.at(-1) !== newline ? 1 : 0)

async function readWhole(
  handle: FileHandle,
  buffer: Buffer,
  from: number,
  end: number,
): Promise<Buffer> {
  let length = 0
  const bytesMax = Math.min(buffer.length, end - from)
  while (length < bytesMax) {
    const { bytesRead } = await handle.read(buffer, length, bytesMax - length, from + length)
    if (bytesRead === 0)
      throw new Error(`the uploaded file ends at ${from + length} of ${end} bytes`)
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

/** Skips a line that does not end within a buffer, as one row that is too long. */
async function skipLongLine(
  handle: FileHandle,
  file: ImportFile,
  begin: FilePosition,
  buffer: Buffer,
): Promise<Chunk> {
  let at = begin.bytes
  for (;;) {
    const bytes = await readWhole(handle, buffer, at, file.bytes)
    const lineEnd = bytes.indexOf(newline)
    at += lineEnd === -1 ? bytes.length : lineEnd + 1
    if (lineEnd !== -1 || at >= file.bytes) break
  }
  const row = await encodeRows(file, Buffer.alloc(recordBytesMax + 1, 'x'), true)
  return {
    as: 'rows',
    bytes: row.bytes,
    rows: 1,
    begin,
    end: { bytes: at, lines: begin.lines + 1 },
  }
}
