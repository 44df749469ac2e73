import { isProfileField } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { AdmittedRequest } from '../../billing/chargedRequest.ts'
import { ahead } from '../../platform/ahead.ts'
import { eventsQuery, rowsShowTheirKey } from './eventsQuery.ts'
import { readUnchanged, requireExpected } from './expectedRecords.ts'
import { type GatheredPage, splitPages } from './pageSplitter.ts'
import { nameProjects } from './projects.ts'
import { readEventRecords, readsPeople } from './readPage.ts'
import { outputFormat, rowEncoding } from './rowEncoding.ts'
import type { EventsPlan } from './selection.ts'
import { isAboutSessions } from './sessions.ts'

/** Rows of one query that ClickHouse sorts in memory. */
const sortedRowsMax = 100_000

/** Whether ClickHouse finds the rows in their order, so that it sorts none, however many there are. */
const liesInOrder = ({ scope, distinct, filters, columns }: EventsPlan): boolean =>
  scope.projectId !== null &&
  distinct.length === 0 &&
  !filters.some(({ field }) => field && isProfileField(field)) &&
  !isAboutSessions(
    filters,
    columns.map(({ name }) => name),
  )

/** Returns why a plan cannot be read as several pages, with its parameter; null if it can. */
export function pagesRefusal(
  plan: Pick<EventsPlan, 'order' | 'columns'>,
): { parameter: string; message: string } | null {
  if (plan.order === 'received')
    return { parameter: 'pages', message: 'must be 1 with order=received' }
  return rowsShowTheirKey(plan as EventsPlan)
    ? null
    : { parameter: 'select', message: 'must contain ts_millis and event_id if pages is above 1' }
}

/**
 * Reads up to `pages` pages of a plan, one page ahead of the consumer. One query reads many pages, because each query
 * costs ClickHouse as much as half a page. Pages whose charge names people need a query each. The generator throws before a page that is incomplete.
 */
export const readPages = (
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
  pages: number,
  { charge }: Pick<AdmittedRequest, 'charge'>,
): AsyncGenerator<ReadPage> =>
  ahead(
    charge.isRepeatable && readsPeople(plan)
      ? pagesOfPeople(queryExecutor, plan, pages)
      : pagesOfQueries(queryExecutor, plan, pages),
  )

/** A page, with the hashes of its records if its charge names the people in its rows. */
export interface ReadPage extends GatheredPage {
  readonly hashes?: readonly string[]
}

/** Reads each page by a query of its own, which finds the people whom its charge names. */
async function* pagesOfPeople(
  queryExecutor: QueryExecutor,
  unnamed: EventsPlan,
  pages: number,
): AsyncGenerator<ReadPage> {
  let plan = await nameProjects(queryExecutor, unnamed)
  const { encoding, output } = jsonOf(queryExecutor, plan)
  for (let left = pages; left > 0; left--) {
    const { rows, hashes } = await readUnchanged(
      () => readEventRecords(queryExecutor, plan),
      async (expected) => {
        const query = eventsQuery({ ...plan, expected }, encoding)
        const { body, rows } = await queryExecutor.stream(query, output)
        requireExpected(expected, rows, () => body.destroy())
        return body
      },
    )
    for await (const page of splitPages(rows, { ...plan, pages: 1 })) {
      yield { ...page, hashes: hashes.slice(0, page.records) }
      if (!page.hasMore) return
      plan = { ...plan, cursor: cursorPast(plan, page) }
    }
  }
}

function jsonOf(queryExecutor: QueryExecutor, plan: EventsPlan) {
  const isOfOneServer = queryExecutor.clickhouse.shards.length === 1
  const encoding = rowEncoding(plan, 'json', { leadsWithNext: false, isOfOneServer })
  return { encoding, output: outputFormat(plan.columns, encoding) }
}

async function* pagesOfQueries(
  queryExecutor: QueryExecutor,
  unnamed: EventsPlan,
  pages: number,
): AsyncGenerator<GatheredPage> {
  const plan = await nameProjects(queryExecutor, unnamed)
  const { encoding, output } = jsonOf(queryExecutor, plan)
  const pagesPerQuery = liesInOrder(plan)
    ? pages
    : Math.max(1, Math.floor(sortedRowsMax / plan.limit))
  let { cursor } = plan
  for (let left = pages; left > 0; ) {
    const some = Math.min(left, pagesPerQuery)
    const query = eventsQuery({ ...plan, cursor, limit: some * plan.limit }, encoding)
    const body = await queryExecutor.streamWhileRead(query, output)
    for await (const page of splitPages(body, { ...plan, pages: some })) {
      yield page
      if (!page.hasMore) return
      cursor = cursorPast(plan, page)
    }
    left -= some
  }
}

/** The place after the last row of a page. */
export const cursorPast = (
  { order, window }: Pick<EventsPlan, 'order' | 'window'>,
  { last }: Pick<GatheredPage, 'last'>,
): EventsPlan['cursor'] => last && { order, from: { ...last, isPassed: true }, window }
