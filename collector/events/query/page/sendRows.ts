import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Field } from '../../../../schemas/fields.ts'
import { contentTypeOf, type Format, isTable } from '../../../api/http/negotiateFormat.ts'
import { streamOf } from '../../../api/http/streaming.ts'

/** A response with rows, which `settle` has released. */
interface RowsAnswer {
  readonly format: Format
  readonly columns: readonly Field[]
  readonly records: number
  readonly rows: AsyncIterable<Buffer>
  /** The member of a JSON response that contains the rows. */
  readonly member: string
  /** Returns the members after the rows of a JSON response. Called after all rows were sent. */
  after(): object
  /** Returns the headers that replace these members in other formats. Called before the first row. */
  headers(): Readonly<Record<string, string | number>>
}

/** Sets the headers of a response with rows, and returns its body. */
export function sendRows(
  reply: FastifyReply,
  { format, columns, records, rows, member, after, headers }: RowsAnswer,
): Readable {
  reply.header('content-type', contentTypeOf(format)).header('vary', 'accept')
  if (format === 'json') return streamOf(jsonRows(member, rows, after))
  reply.headers(headers())
  return streamOf(rowsAlone(columns, records, rows, format))
}

/** Yields a JSON object of rows and the members after them. */
export async function* jsonRows(member: string, rows: AsyncIterable<Buffer>, after: () => object) {
  yield `{"${member}":[`
  yield* rows
  yield `],${JSON.stringify(after()).slice(1)}`
}

/** Yields rows without metadata: a table, NDJSON, or CSV with a header line. */
async function* rowsAlone(
  columns: readonly Field[],
  records: number,
  rows: AsyncIterable<Buffer>,
  format: Format,
) {
  if (format === 'csv') yield `${columns.map(({ name }) => `"${name}"`).join(',')}\n`
  yield* rows
  if (records > 0 && !isTable(format)) yield '\n'
}
