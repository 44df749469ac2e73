import type { Readable } from 'node:stream'
import { type Format, isTable, type TableFormat } from '../../api/http/negotiateFormat.ts'
import { startingWith } from '../../api/http/streaming.ts'
import type { ResultStream } from '../../platform/clickhouse/client.ts'
import type { RowKey } from './cursor.ts'
import type { Order } from './order.ts'
import { nextColumn } from './rowForm.ts'
import { joinRows, type Rows } from './rows.ts'
import { tableRows } from './tableRows.ts'

/** A page of events on its way from ClickHouse: the rows are bytes that nothing here parses. */
export interface Page {
  /** Rows in the page, known before they are read. */
  readonly records: number
  readonly hasMore: boolean
  /** The rows, joined as `format` joins them, without what stands before and after them. Read once. */
  readonly rows: AsyncIterable<Rows>
  /** Where the next page begins; null when there is none. A JSON page knows it only after its rows were read. */
  next(): RowKey | null
}

/** A format in which rows are pieces of text. */
type LineFormat = Exclude<Format, TableFormat>

const joints: Record<LineFormat, string> = { json: ',', ndjson: '\n', csv: '\n' }

/** The first `limit` rows of what ClickHouse answered in the form of outputOf. */
export async function pageOf(
  { body, rows }: ResultStream,
  { limit, order }: { limit: number; order: Order },
  format: Format,
  leadsWithNext: boolean,
): Promise<Page> {
  const records = Math.min(rows, limit)
  const hasMore = rows > limit
  if (isTable(format))
    return { records, hasMore, rows: tableRows(body, format, records), next: () => null }
  if (records === 0) {
    body.resume()
    return { records, hasMore, rows: noRows(), next: () => null }
  }
  return leadsWithNext
    ? carryingPage(body, records, hasMore, format)
    : plainPage(body, records, hasMore, format, order)
}

/** JSONEachRow escapes newlines, so each one ends a row. */
function plainPage(
  body: Readable,
  records: number,
  hasMore: boolean,
  format: LineFormat,
  order: Order,
): Page {
  const rest: Buffer[] = []
  const rows = joinRows(
    body,
    { separator: Buffer.from('\n'), joint: Buffer.from(joints[format]), rows: records },
    rest,
  )
  return {
    records,
    hasMore,
    rows,
    next() {
      if (!hasMore) return null
      const row = JSON.parse(Buffer.concat(rest).toString()) as {
        ts_millis: number
        received_at: string
        event_id: string
      }
      const millis = order === 'received' ? Date.parse(row.received_at) : row.ts_millis
      return { millis, eventId: row.event_id }
    },
  }
}

/**
 * Every row begins with the same bytes, `{"_next":"(…)",` or in CSV `"(…)",`. A newline with these bytes after it is
 * the end of a row and nothing else, also in CSV: there a quotation mark inside a value is doubled.
 */
async function carryingPage(
  body: Readable,
  records: number,
  hasMore: boolean,
  format: LineFormat,
): Promise<Page> {
  const isCsv = format === 'csv'
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let lead: Lead | undefined
  while (!lead) {
    const { value, done } = await chunks.next()
    if (done) throw new Error('The answer of ClickHouse ended before its first row')
    head = Buffer.concat([head, value])
    lead = findLead(head)
  }

  const opening = isCsv ? '' : '{'
  const rows = joinRows(
    startingWith(head.subarray(lead.end), chunks),
    {
      separator: Buffer.concat([Buffer.from('\n'), head.subarray(0, lead.end)]),
      joint: Buffer.from(joints[format] + opening),
      rows: records,
    },
    [],
  )
  const { next } = lead
  return {
    records,
    hasMore,
    rows: startingWith({ bytes: Buffer.from(opening), records: 0 }, rows[Symbol.asyncIterator]()),
    next: () => (hasMore ? next : null),
  }
}

interface Lead {
  end: number
  next: RowKey
}

const leadPattern = new RegExp(`^(?:\\{"${nextColumn}":)?"\\((-?\\d+),'([0-9a-f-]{36})'\\)",`)

/** Finds the first row's lead; undefined while too few bytes are there. */
function findLead(head: Buffer): Lead | undefined {
  const parts = leadPattern.exec(head.toString('latin1', 0, 128))
  if (!parts) return undefined
  return {
    end: parts[0].length,
    next: { millis: Number(parts[1]), eventId: parts[2]! },
  }
}

async function* noRows(): AsyncGenerator<Rows> {}
