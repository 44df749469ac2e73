import { type Field, fieldNamed, isIdentityField } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { busy } from '../../api/http/errors.ts'
import { type Format, isTable, type TableFormat } from '../../api/http/negotiateFormat.ts'
import type { ReadRecords } from '../../billing/chargedRequest.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { RowKey } from './cursor.ts'
import { eventsQuery, rowsShowTheirKey } from './eventsQuery.ts'
import { keyColumns } from './order.ts'
import { estimateSpan } from './pageSpanEstimator.ts'
import { nameProjects } from './projects.ts'
import { outputFormat, type Page, pageOf, rowEncoding } from './rowEncoding.ts'
import type { EventsPlan } from './selection.ts'

/** A page of events, with the values for `settle`. */
export type EventsPage = Page & Required<Pick<ReadRecords, 'window' | 'hashes'>>

/**
 * Reads the page of a plan. A full page of a free repeat always reports that more may follow, and the next
 * page starts after its last row. It must not reveal for free whether there is another row.
 */
export async function readPage(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
  format: Format,
  { isRepeat }: { isRepeat: boolean },
): Promise<EventsPage> {
  const page = await readPlainPage(queryExecutor, plan, format)
  if (!isRepeat || page.records < plan.limit) return page
  const named = await nameProjects(queryExecutor, plan)
  const last = await readKeyAfter(queryExecutor, named, plan.limit - 1)
  return { ...page, hasMore: true, next: () => last && { ...last, isPassed: true } }
}

/**
 * Reads the page of a plan. The query returns one row more than the page has: its key is where the next page begins.
 * A JSON answer contains the key at its end. If its columns contain the key, `pageOf` takes it from that row, and the
 * query stays plain. Otherwise, and for NDJSON and CSV, ClickHouse writes the key before every row, and `pageOf` cuts it
 * off again.
 */
async function readPlainPage(
  queryExecutor: QueryExecutor,
  unnamed: EventsPlan,
  format: Format,
): Promise<EventsPage> {
  const plan = await nameProjects(queryExecutor, unnamed)
  if (isTable(format)) return readTablePage(queryExecutor, plan, format)
  const encoding = rowEncoding(plan, format, {
    leadsWithNext: format !== 'json' || !rowsShowTheirKey(plan),
    isOfOneServer: queryExecutor.clickhouse.shards.length === 1,
  })
  const output = outputFormat(plan.columns, encoding)
  const { spanMs, learn, forget } = estimateSpan(queryExecutor, plan)
  let stream = await queryExecutor.stream(eventsQuery({ ...plan, spanMs }, encoding), output)
  // The span is an estimate. If it has too few rows, the page is read again without it.
  if (spanMs !== undefined && stream.rows <= plan.limit) {
    stream.body.destroy()
    forget()
    stream = await queryExecutor.stream(eventsQuery(plan, encoding), output)
  }
  const page = await pageOf(stream, plan, encoding)
  return {
    ...page,
    window: plan.window,
    hashes: () => readEventHashes(queryExecutor, plan),
    next() {
      const next = page.next()
      if (next) learn(next)
      return next
    },
  }
}

/** How often a table is read, and when the client may retry afterwards. */
const triesMax = 6
const retrySeconds = 1

/**
 * Reads a page as a table, from which no row and no column can be removed. The first query finds the key of
 * the next page, the second reads everything before it. If too many events arrive in between, the next try
 * takes half the rows: the page is shorter then, and loses none.
 */
async function readTablePage(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
  format: TableFormat,
): Promise<EventsPage> {
  const encoding = rowEncoding(plan, format, { leadsWithNext: false })
  const output = outputFormat(plan.columns, encoding)
  for (let tries = 0, rows = plan.limit; tries < triesMax; tries++, rows = Math.ceil(rows / 2)) {
    const next = await readKeyAfter(queryExecutor, plan, rows)
    const bounded = next ? { ...plan, until: next } : plan
    const stream = await queryExecutor.stream(eventsQuery(bounded, encoding), output)
    if (stream.rows > plan.limit) {
      stream.body.destroy()
      continue
    }
    return {
      ...(await pageOf(stream, plan, encoding)),
      window: plan.window,
      hashes: () => readEventHashes(queryExecutor, bounded),
      hasMore: next !== null,
      next: () => next,
    }
  }
  throw busy('More events arrive in this window than fit in a page.', retrySeconds)
}

/** Returns the key of the row after the first `rows` rows of a plan; null without one. */
async function readKeyAfter(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
  rows: number,
): Promise<RowKey | null> {
  const [time, id] = keyColumns(plan.order)
  const columns = [fieldNamed(time)!, fieldNamed(id)!]
  const [row] = await queryExecutor.rows<Record<string, string | number>>(
    eventsQuery({ ...plan, columns, hasAllColumns: false, limit: 0, offset: rows }),
  )
  if (!row) return null
  const millis = plan.order === 'received' ? Date.parse(String(row[time])) : Number(row[time])
  return { millis, eventId: String(row[id]) }
}

/** The fields that identify an event. */
const eventKey = [fieldNamed('project_id')!, fieldNamed('event_id')!]

/** The fields that identify an event of an identified person: a caller can link its browser to another person. */
export const identifiedKey = [...eventKey, fieldNamed('hem')!]

/** Returns the hashes of the events of a plan's page, in its order. */
export function readEventHashes(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
): Promise<readonly string[]> {
  const asked = [
    ...plan.columns,
    ...plan.distinct,
    ...plan.filters.flatMap(({ field }) => field ?? []),
  ]
  const columns = asked.some(isIdentityField) ? identifiedKey : eventKey
  // The query of a page selects one row more than its limit.
  const query = eventsQuery({ ...plan, columns, hasAllColumns: false, limit: plan.limit - 1 })
  return readHashes(queryExecutor, query, columns)
}

/** Returns the hashes of records, in the order of the response; the query selects their fields `key`. */
export async function readHashes(
  queryExecutor: QueryExecutor,
  { sql, params }: Query,
  key: readonly Field[],
): Promise<readonly string[]> {
  const values = key.map(({ name, nullable }) => (nullable ? `ifNull(${name}, '')` : name))
  const [found] = await queryExecutor.rows<{ hashes: string[] }>({
    sql: `SELECT groupArray(toString(reinterpretAsInt64(sipHash64(${values.join(', ')})))) AS hashes FROM (\n${sql}\n)`,
    params,
  })
  return found!.hashes
}
