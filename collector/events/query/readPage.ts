import { fieldNamed } from '../../../schemas/fields.ts'
import type { Reader } from '../../api/access/reader.ts'
import { busy } from '../../api/http/errors.ts'
import { type Format, isTable, type TableFormat } from '../../api/http/negotiateFormat.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { RowKey } from './cursor.ts'
import { eventsQuery, rowsShowTheirKey } from './eventsQuery.ts'
import { keyColumns } from './order.ts'
import { type Page, pageOf } from './page.ts'
import { estimateSpan } from './pageSpanEstimator.ts'
import { nameProjects } from './projects.ts'
import { recordKey } from './recordHashes.ts'
import { outputOf, rowForm } from './rowForm.ts'
import type { EventsPlan } from './selection.ts'

/** A page of events, and what asks for the keys of its rows. */
interface EventsPage extends Page {
  /** For readRecordHashes. */
  keysQuery(): Query
}

/**
 * Asks for the page of a plan. Where the next page begins is the key of the one row too many that was asked for. A
 * JSON answer says it last, so when its columns hold the key it is read from that row, and the query stays plain. As
 * other lines ClickHouse puts the key in front of every row, and it is cut off again. A table is asked for twice.
 */
export async function readPage(
  reader: Reader,
  unnamed: EventsPlan,
  format: Format,
): Promise<EventsPage> {
  const plan = await nameProjects(reader, unnamed)
  if (isTable(format)) return readTablePage(reader, plan, format)
  const leadsWithNext = format !== 'json' || !rowsShowTheirKey(plan)
  const form = rowForm(plan, format, leadsWithNext, reader.clickhouse.shards.length === 1)
  const ask = (asked: EventsPlan) =>
    reader.stream(eventsQuery(asked, form), outputOf(asked, format, form))
  const span = estimateSpan(reader, plan)
  let stream = await ask({ ...plan, spanMs: span.spanMs })
  if (span.spanMs !== undefined && stream.rows <= plan.limit) {
    stream.body.destroy()
    span.forget()
    stream = await ask(plan)
  }
  const page = await pageOf(stream, plan, format, form.leadsWithNext)
  return {
    ...page,
    next() {
      const next = page.next()
      if (next) span.learn(next)
      return next
    },
    keysQuery: () => pageKeysQuery(plan),
  }
}

/** The keys of the rows of a plan's page. */
export const pageKeysQuery = (plan: EventsPlan): Query =>
  // A page is asked for with one row more than its limit.
  eventsQuery({ ...plan, columns: recordKey, hasAllColumns: false, limit: plan.limit - 1 })

/** How often a table is asked for, and when to come again after. */
const triesMax = 6
const retrySeconds = 1

/**
 * A page as a table, of which no row and no column can be cut off: so ClickHouse is asked first where the next page
 * begins, and then for all before it. When more have arrived meanwhile than a page may have, the next try ends sooner:
 * so the page has fewer rows, and none is passed over.
 */
async function readTablePage(
  reader: Reader,
  plan: EventsPlan,
  format: TableFormat,
): Promise<EventsPage> {
  const form = rowForm(plan, format, false)
  for (let tries = 0, rows = plan.limit; tries < triesMax; tries++, rows = Math.ceil(rows / 2)) {
    const next = await readKeyAfter(reader, plan, rows)
    const bounded = next ? { ...plan, until: next } : plan
    const stream = await reader.stream(eventsQuery(bounded, form), outputOf(plan, format, form))
    if (stream.rows > plan.limit) {
      stream.body.destroy()
      continue
    }
    const page = await pageOf(stream, plan, format, false)
    return {
      ...page,
      hasMore: next !== null,
      next: () => next,
      keysQuery: () => pageKeysQuery(bounded),
    }
  }
  throw busy('More events are arriving in this window than a page may have.', retrySeconds)
}

/** The key of what follows the first `rows` rows of a plan; null when nothing does. */
async function readKeyAfter(
  reader: Reader,
  plan: EventsPlan,
  rows: number,
): Promise<RowKey | null> {
  const [time, id] = keyColumns(plan.order)
  const columns = [fieldNamed(time)!, fieldNamed(id)!]
  const [row] = await reader.rows<Record<string, string | number>>(
    eventsQuery({ ...plan, columns, hasAllColumns: false, limit: 0, offset: rows }),
  )
  if (!row) return null
  const millis = plan.order === 'received' ? Date.parse(String(row[time])) : Number(row[time])
  return { millis, eventId: String(row[id]) }
}
