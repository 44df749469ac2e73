import type { Readable } from 'node:stream'
import type { TableFormat } from '../../../api/http/negotiateFormat.ts'
import type { Delivery } from '../../../billing/charge.ts'

/** Passes on the bytes of a table with `records` rows. Throws when they end before its last row. */
export const tableRows = (
  body: Readable,
  format: TableFormat,
  records: number,
): AsyncGenerator<Delivery> =>
  format === 'arrow' ? arrowRows(body, records) : parquetRows(body, records)

async function* arrowRows(
  chunks: AsyncIterable<Buffer>,
  records: number,
): AsyncGenerator<Delivery> {
  const counter = new ArrowRowCounter()
  let missing = records
  for await (const bytes of chunks) {
    const ended = counter.count(bytes)
    missing -= ended
    yield { bytes, records: ended }
  }
  if (missing !== 0) throw new Error('The response of ClickHouse ended before its last row')
}

/** The index of a Parquet file is at its end, so no client can read a row before the last chunk. */
async function* parquetRows(
  chunks: AsyncIterable<Buffer>,
  records: number,
): AsyncGenerator<Delivery> {
  let held: Buffer = Buffer.alloc(0)
  for await (const bytes of chunks) {
    if (held.length > 0) yield { bytes: held, records: 0 }
    held = bytes
  }
  yield { bytes: held, records }
}

const none = Buffer.alloc(0)

/** The beginning of a message of an Arrow stream; length 0 ends the stream. */
const prefixBytes = 8

/** The value of MessageHeader in Arrow's Message.fbs. */
const recordBatch = 3

/**
 * Counts the rows of an Arrow stream (IPC streaming format) as its bytes pass. A record batch counts after
 * its last byte, because no reader can decode its rows earlier. It does not read values.
 */
export class ArrowRowCounter {
  /** The start of incomplete metadata. */
  #begun: Buffer = none
  #bodyLeft = 0
  #rowsInBody = 0

  /** Returns how many rows end in these bytes, which continue those of the previous call. */
  count(chunk: Buffer): number {
    let bytes = this.#begun.length > 0 ? Buffer.concat([this.#begun, chunk]) : chunk
    let rows = 0
    for (;;) {
      const ofBody = Math.min(this.#bodyLeft, bytes.length)
      this.#bodyLeft -= ofBody
      bytes = bytes.subarray(ofBody)
      if (this.#bodyLeft > 0) break
      rows += this.#rowsInBody
      this.#rowsInBody = 0
      if (bytes.length < prefixBytes) break
      const end = prefixBytes + bytes.readInt32LE(4)
      if (bytes.length < end) break
      if (end > prefixBytes) {
        const { bodyBytes, rows: rowsInBody } = readMessage(bytes.subarray(prefixBytes, end))
        this.#bodyLeft = bodyBytes
        this.#rowsInBody = rowsInBody
      }
      bytes = bytes.subarray(end)
    }
    this.#begun = bytes
    return rows
  }
}

/** Reads a message's metadata, a FlatBuffer, which contains the size of its body. */
function readMessage(bytes: Buffer): { bodyBytes: number; rows: number } {
  const message = tableAt(bytes, 0)
  const [kind, header, bodyLength] = [message(1), message(2), message(3)]
  const rows =
    kind && header && bytes.readUInt8(kind) === recordBatch ? tableAt(bytes, header)(0) : null
  return {
    bodyBytes: bodyLength ? Number(bytes.readBigInt64LE(bodyLength)) : 0,
    rows: rows ? Number(bytes.readBigInt64LE(rows)) : 0,
  }
}

/** Reads the table at an offset: returns the positions of its fields by number, null for missing ones. */
function tableAt(bytes: Buffer, place: number): (field: number) => number | null {
  const table = place + bytes.readUInt32LE(place)
  const fields = table - bytes.readInt32LE(table)
  return (field) => {
    const at = 4 + 2 * field
    const offset = at < bytes.readUInt16LE(fields) ? bytes.readUInt16LE(fields + at) : 0
    return offset > 0 ? table + offset : null
  }
}
