import { fieldNamed, isIdentityField } from '../../../../schemas/fields.ts'
import type { QueryExecutor } from '../../../api/access/queryExecutor.ts'
import { busy } from '../../../api/http/errors.ts'
import { type Format, isTable, type TableFormat } from '../../../api/http/negotiateFormat.ts'
import type { AdmittedRequest, ReadRecords } from '../../../billing/chargedRequest.ts'
import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import { keyColumns } from '../order.ts'
import {
  type ExpectedRecords,
  eventKey,
  identifiedKey,
  readRecords,
  readUnchanged,
  requireExpected,
} from '../profiles/expectedRecords.ts'
import { nameProjects } from '../projects.ts'
import type { RowKey } from './cursor.ts'
import type { EventsPlan } from './eventsPlan.ts'
import { eventsQuery, rowsShowTheirKey } from './eventsQuery.ts'
import { pageBegin, readsTimeOfLast } from './multiProjectBound.ts'
import { outputFormat, type Page, pageOf, rowEncoding } from './rowEncoding.ts'

/** A page of events, with the values for `settle`. */
export type EventsPage = Page & Required<Pick<ReadRecords, 'window' | 'hashes'>>

export async function readPage(
  queryExecutor: QueryExecutor,
  unnamed: EventsPlan,
  format: Format,
  { charge }: Pick<AdmittedRequest, 'charge'>,
): Promise<EventsPage> {
  const plan = await nameProjects(queryExecutor, unnamed)
  return charge.isRepeatable && readsPeople(plan)
    ? readPageOfPeople(queryExecutor, plan, format)
    : readPlainPage(queryExecutor, plan, format)
}

/** Reads a page whose charge names the people in its rows. */
async function readPageOfPeople(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
  format: Format,
): Promise<EventsPage> {
  const { rows, hashes } = await readUnchanged(
    () => readEventRecords(queryExecutor, plan),
    (expected) => readPlainPage(queryExecutor, { ...plan, expected }, format),
  )
  return { ...rows, hashes: () => hashes.slice(0, rows.records) }
}

/**
 * Reads the page of a plan. The query returns one row more than the page has: its key is where the next page begins.
 * A JSON answer contains the key at its end. If its columns contain the key, `pageOf` takes it from that row, and the
 * query stays plain. Otherwise, and for NDJSON and CSV, ClickHouse writes the key before every row, and `pageOf` cuts it
 * off again.
 */
async function readPlainPage(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
  format: Format,
): Promise<EventsPage> {
  if (isTable(format)) return readTablePage(queryExecutor, plan, format)
  const encoding = lineEncoding(plan, format, queryExecutor.clickhouse.shards.length === 1)
  const output = outputFormat(plan.columns, encoding)
  const { spanMs, learn, forget } = estimateSpan(queryExecutor, plan)
  let stream = await queryExecutor.stream(eventsQuery({ ...plan, spanMs }, encoding), output)
  // The span is an estimate. If it has too few rows, the page is read again without it.
  if (spanMs !== undefined && stream.rows <= plan.limit) {
    stream.body.destroy()
    forget()
    stream = await queryExecutor.stream(eventsQuery(plan, encoding), output)
  }
  requireExpected(plan.expected, stream.rows, () => stream.body.destroy())
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

/** Returns the encoding of a page that is no table. */
export const lineEncoding = (plan: EventsPlan, format: Format, isOfOneServer: boolean) =>
  rowEncoding(plan, format, {
    leadsWithNext: format !== 'json' || !rowsShowTheirKey(plan),
    isOfOneServer,
  })

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
    requireExpected(plan.expected, stream.rows + (next ? 1 : 0), () => stream.body.destroy())
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

/** Whether the rows of a plan depend on whose browser an event comes from. */
export const readsPeople = ({ columns, distinct, filters }: EventsPlan): boolean =>
  [...columns, ...distinct, ...filters.flatMap(({ field }) => field ?? [])].some(isIdentityField)

/** Reads the records of a plan's page, and of the row that its query selects after it. */
export function readEventRecords(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
): Promise<ExpectedRecords> {
  const key = readsPeople(plan) ? identifiedKey : eventKey
  return readRecords(
    queryExecutor,
    eventsQuery({ ...plan, columns: key, hasAllColumns: false }),
    key,
  )
}

/** Returns the hashes of the events of a plan's page, in its order. */
export async function readEventHashes(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
): Promise<readonly string[]> {
  // The query of a page selects one row more than its limit.
  const { hashes } = await readEventRecords(queryExecutor, { ...plan, limit: plan.limit - 1 })
  return hashes
}

/** Measurements of one store: milliseconds per row, by kind of read. */
type MillisPerRow = Map<string, number>

const rememberedBy = new WeakMap<ClickHouse, MillisPerRow>()
const rememberedMax = 10_000

/** The time span in which to search the rows of a page. */
interface PageSpan {
  /** Milliseconds from the start of the page; undefined without a measurement, or if it saves no time. */
  readonly spanMs: number | undefined
  learn(next: RowKey): void
  /** Reports that the span had too few rows. */
  forget(): void
}

/**
 * Estimates it from earlier pages of the same organization. Querying each project for the time of the page's
 * last row takes ClickHouse half as long as the page. An estimate only saves time: a page that was not filled
 * is read again.
 */
export function estimateSpan({ clickhouse }: QueryExecutor, plan: EventsPlan): PageSpan {
  const { scope, source, filters, order, window, limit } = plan
  if (!readsTimeOfLast(plan) || filters.length > 0 || plan.distinct.length > 0 || plan.offset > 0)
    return nothingKnown
  const spans: MillisPerRow = rememberedBy.get(clickhouse) ?? new Map()
  rememberedBy.set(clickhouse, spans)
  const key = JSON.stringify([scope.organizationId, scope.pixelId, scope.campaignId, source])
  const millisPerRow = spans.get(key)
  const from = pageBegin(plan)
  const leftMs = order === 'desc' ? from - window.startMs : window.endMs - from
  // Slightly more than twice the estimate, because adjacent rows are read together anyway.
  const spanMs =
    millisPerRow === undefined ? undefined : Math.ceil(millisPerRow * (2 * limit + 100))
  return {
    spanMs: spanMs !== undefined && spanMs < leftMs ? spanMs : undefined,
    learn(next) {
      if (spans.size >= rememberedMax) spans.clear()
      const measured = Math.abs(from - next.millis) / limit
      // With two alternating readers, the one with sparse rows would otherwise need two reads each time.
      spans.set(key, Math.max(measured, (millisPerRow ?? 0) / 2))
    },
    forget: () => spans.delete(key),
  }
}

const nothingKnown: PageSpan = { spanMs: undefined, learn() {}, forget() {} }
