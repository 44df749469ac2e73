import { crc32 } from 'node:zlib'

/**
 * The form of a spool segment: records, each one commit group. A record is a header line of fixed length,
 * "#length crc32 rows", all hexadecimal, and then `length` bytes of JSONEachRow lines, exactly as ClickHouse takes
 * them. Length and checksum (which starts from the row count) make a torn write visible; shipping hands on the bytes between the headers.
 */
const headerBytes = 28

const utf8 = new TextEncoder()
const utf8BytesPerChar = 3

/** Encodes records into one buffer that is used again, so that a busy spool leaves nothing to collect. */
export class FrameEncoder {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024)

  /** A record of lines (each with its line end), header and payload, ready to be written; good until the next call. */
  encode(lines: readonly string[]): Buffer {
    let end = headerBytes
    for (const line of lines) {
      this.#reserve(end + line.length * utf8BytesPerChar)
      // Line by line: one line that is not ASCII would make a joined text slow to encode.
      end += utf8.encodeInto(line, this.#buffer.subarray(end)).written
    }
    const payload = this.#buffer.subarray(headerBytes, end)
    const rows = lines.length
    this.#buffer.write(`#${hex(payload.length)} ${hex(crc32(payload, rows))} ${hex(rows)}\n`, 'latin1')
    return this.#buffer.subarray(0, end)
  }

  #reserve(bytes: number): void {
    if (this.#buffer.length >= bytes) return
    const larger = Buffer.allocUnsafeSlow(bytes * 2)
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

export interface SegmentContent {
  /** The JSONEachRow lines of each whole record, in order; views into the segment's bytes. */
  payloads: Buffer[]
  rows: number
  /** Bytes up to the end of the last whole record: what follows is a torn write, never acknowledged. */
  wholeBytes: number
}

/** Reads a segment's records up to the first that is not whole. Never throws: any bytes have a longest whole prefix. */
export function decodeSegment(segment: Buffer): SegmentContent {
  const payloads: Buffer[] = []
  let rows = 0
  let position = 0
  while (position + headerBytes <= segment.length) {
    const header = /^#([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8})\n$/.exec(
      segment.toString('latin1', position, position + headerBytes),
    )
    if (!header) break
    const start = position + headerBytes
    const end = start + Number.parseInt(header[1]!, 16)
    if (end > segment.length) break
    const payload = segment.subarray(start, end)
    const payloadRows = Number.parseInt(header[3]!, 16)
    if (crc32(payload, payloadRows) !== Number.parseInt(header[2]!, 16)) break
    payloads.push(payload)
    rows += payloadRows
    position = end
  }
  return { payloads, rows, wholeBytes: position }
}

const hex = (value: number): string => value.toString(16).padStart(8, '0')
