import type { Readable } from 'node:stream'
import type { TableFormat } from '../../api/http/negotiateFormat.ts'
import { ArrowRowCounter } from './arrowStream.ts'
import type { Rows } from './rows.ts'

/** The bytes of a table with `records` rows, as they come. Throws when they end before its last row. */
export const tableRows = (
  body: Readable,
  format: TableFormat,
  records: number,
): AsyncGenerator<Rows> =>
  format === 'arrow' ? arrowRows(body, records) : parquetRows(body, records)

async function* arrowRows(chunks: AsyncIterable<Buffer>, records: number): AsyncGenerator<Rows> {
  const counter = new ArrowRowCounter()
  let missing = records
  for await (const bytes of chunks) {
    const ended = counter.count(bytes)
    missing -= ended
    yield { bytes, records: ended }
  }
  if (missing !== 0) throw new Error('The answer of ClickHouse ended before its last row')
}

/** Where rows lie in a Parquet file is written at its end: before that has come, nobody has any of them. */
async function* parquetRows(chunks: AsyncIterable<Buffer>, records: number): AsyncGenerator<Rows> {
  let held: Buffer = Buffer.alloc(0)
  for await (const bytes of chunks) {
    if (held.length > 0) yield { bytes: held, records: 0 }
    held = bytes
  }
  yield { bytes: held, records }
}
