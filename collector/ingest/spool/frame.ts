import { crc32 } from 'node:zlib'

/**
 * The format of a spool segment: records, each one commit group. A record has a header line of fixed length,
 * "#length crc32 rows", all hexadecimal. Then follow `length` bytes of JSONEachRow lines, exactly as
 * ClickHouse accepts them. Length and checksum (which starts from the row count) reveal a torn write.
 * Shipping passes on the bytes between the headers.
 */
const headerBytes = 28

const utf8BytesPerChar = 3

/** Encodes records into one reused buffer, so that a busy spool creates no garbage. */
export class FrameEncoder {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024)
  #end = headerBytes
  #rows = 0

  /** Adds the text of a row to the current record, with `ending` in place of its last character, a brace. */
  add(row: string, ending: string): void {
    const bytesMax = (row.length + ending.length) * utf8BytesPerChar
    if (this.#buffer.length < this.#end + bytesMax) this.#grow(this.#end + bytesMax)
    // Rows are encoded one by one, because one non-ASCII row would make a joined text slow to encode.
    const end = this.#end + this.#buffer.write(row, this.#end) - 1
    this.#end = end + this.#buffer.write(ending, end, 'latin1')
    this.#rows++
  }

  /** Returns the record of all rows since the last one, header and payload; valid until the next `add`. */
  finish(): Buffer {
    const payload = this.#buffer.subarray(headerBytes, this.#end)
    const header = `#${hex(payload.length)} ${hex(crc32(payload, this.#rows))} ${hex(this.#rows)}\n`
    this.#buffer.write(header, 'latin1')
    const record = this.#buffer.subarray(0, this.#end)
    this.#end = headerBytes
    this.#rows = 0
    return record
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(bytes * 2)
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}

interface SegmentContent {
  /** The JSONEachRow lines of each complete record, in order, as views into the segment's bytes. */
  payloads: Buffer[]
  rows: number
  /** The end of the last complete record. Bytes after it are a torn write, which was never acknowledged. */
  wholeBytes: number
  /** Bytes outside complete records: a torn write at the end of an open segment, damage elsewhere. */
  others: Buffer[]
}

/**
 * Reads a segment's complete records. Never throws: damage affects only its own record, and it searches for
 * the next one. No row can look like a record: a newline ends it and occurs only there, after a brace.
 */
export function decodeSegment(segment: Buffer): SegmentContent {
  const content: SegmentContent = { payloads: [], rows: 0, wholeBytes: 0, others: [] }
  for (let start = 0; start !== -1; ) {
    const record = readRecord(segment, start)
    if (record) {
      if (start > content.wholeBytes)
        content.others.push(segment.subarray(content.wholeBytes, start))
      content.payloads.push(record.payload)
      content.rows += record.rows
      content.wholeBytes = record.end
      start = record.end
    } else start = segment.indexOf('#', start + 1)
  }
  if (content.wholeBytes < segment.length) content.others.push(segment.subarray(content.wholeBytes))
  return content
}

/** Returns the record at a position; null without a complete one. */
function readRecord(
  segment: Buffer,
  at: number,
): { payload: Buffer; rows: number; end: number } | null {
  const start = at + headerBytes
  const header = /^#([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8})\n$/.exec(
    segment.toString('latin1', at, start),
  )
  if (!header) return null
  const end = start + Number.parseInt(header[1]!, 16)
  if (end > segment.length) return null
  const payload = segment.subarray(start, end)
  const rows = Number.parseInt(header[3]!, 16)
  return crc32(payload, rows) === Number.parseInt(header[2]!, 16) ? { payload, rows, end } : null
}

const hex = (value: number): string => value.toString(16).padStart(8, '0')
