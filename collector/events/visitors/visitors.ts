import { hemNumber } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { type Format, isTable } from '../../api/http/negotiateFormat.ts'
import type { AdmittedRequest } from '../../billing/chargedRequest.ts'
import { companyDomains } from '../../identity/store/profileSql.ts'
import type { ListQuery, Query } from '../../platform/clickhouse/client.ts'
import { isDamaged } from '../../platform/storeErrors.ts'
import { type Bind, bindings } from '../query/bind.ts'
import { type Column, columnsFrom, selectList, typedColumns } from '../query/columns.ts'
import { eventsSource } from '../query/eventsSource.ts'
import { selectionConditions } from '../query/filter/filterSql.ts'
import { newestFirst } from '../query/order.ts'
import { pageInsideProfiles } from '../query/page/eventsQuery.ts'
import type { EventsPage } from '../query/page/readPage.ts'
import {
  outputFormat,
  pageOf,
  plainEncoding,
  type RowEncoding,
  rowEncoding,
} from '../query/page/rowEncoding.ts'
import {
  type ExpectedRecords,
  expectedConditions,
  identifiedKey,
  listsOf,
  readRecords,
  readUnchanged,
  requireExpected,
} from '../query/profiles/expectedRecords.ts'
import { nameProjects } from '../query/projects.ts'
import { hasSessionColumns, isAboutSessions, withSessionsOf } from '../query/sessions.ts'
import { findDamagedRanges, hasBrokenParts } from './damagedRanges.ts'
import type { VisitorsPlan } from './visitorsRequest.ts'

type VisitorRows = Pick<EventsPage, 'records' | 'rows' | 'window'> &
  Partial<Pick<EventsPage, 'hashes'>>

/** A page of visitors, with the values for `settle`. */
export interface Visitors extends VisitorRows {
  /** True when a part of the window could not be read. */
  readonly hasPartialData: boolean
}

/** Reads the visitors of a plan, without damaged parts of the window. */
export async function readVisitors(
  queryExecutor: QueryExecutor,
  unnamed: VisitorsPlan,
  format: Format,
  { charge }: Pick<AdmittedRequest, 'charge'>,
): Promise<Visitors> {
  const plan = await nameProjects(queryExecutor, unnamed)
  // The first column distinguishes a row of CSV from a line inside a value.
  const encoding = rowEncoding(plan, format, { leadsWithNext: format === 'csv' })
  const output = outputFormat(plan.columns, encoding)
  const readRows = async (readable: VisitorsPlan): Promise<VisitorRows> => {
    const stream = await queryExecutor.stream(visitorsQuery(readable, encoding), output)
    requireExpected(readable.expected, stream.rows, () => stream.body.destroy())
    const { records, rows } = await pageOf(stream, { limit: plan.limit, order: 'desc' }, encoding)
    return { records, rows, window: plan.window }
  }
  const read = async (readable: VisitorsPlan): Promise<VisitorRows> => {
    if (!charge.isRepeatable) return readRows(readable)
    const keys = { ...readable, columns: identifiedKey, hasAllColumns: false }
    const { rows, hashes } = await readUnchanged(
      () => readRecords(queryExecutor, visitorsQuery(keys, plainEncoding), identifiedKey),
      (expected: ExpectedRecords) => readRows({ ...readable, expected }),
    )
    return { ...rows, hashes: () => hashes }
  }
  try {
    const [page, hasPartialData] = await Promise.all([
      read(plan),
      hasBrokenParts(queryExecutor, plan),
    ])
    return { ...page, hasPartialData }
  } catch (error) {
    if (!isDamaged(error)) throw error
    // Encoded members read the same data as single values, in a fraction of the time.
    const gaps = await findDamagedRanges(plan.window, (window) =>
      isReadable(
        queryExecutor,
        visitorsQuery({ ...plan, window }, { ...plainEncoding, profiles: 'members' }),
      ),
    )
    return { ...(await read({ ...plan, gaps })), hasPartialData: true }
  }
}

/** Whether all data of a query can be read. */
async function isReadable(queryExecutor: QueryExecutor, { sql, params }: Query): Promise<boolean> {
  try {
    await queryExecutor.rows({ sql: `SELECT sum(ignore(*)) FROM (\n${sql}\n)`, params })
    return true
  } catch (error) {
    if (!isDamaged(error)) throw error
    return false
  }
}

/**
 * The newest event of each visitor, newest first. It finds these events by a few narrow columns, from the end
 * of the primary key, so that it stops when the limit is full. It reads all other columns only for these
 * events.
 */
export function visitorsQuery(plan: VisitorsPlan, encoding: RowEncoding): Query | ListQuery {
  const { bind, params } = bindings()
  const where = conditionsOf(plan, bind).join('\n  AND ')
  const limit = bind('UInt32', plan.limit)
  const from = eventsSource(plan, [], bind)
  const page = (
    columns: readonly Column[],
  ) => `SELECT ${selectList(columnsFrom(plan.source, columns))}
FROM ${from}
WHERE ${where}
  AND (ts_millis, event_id) IN (
${newestOf(plan, from, where, limit)}
)`
  const sql = pageInsideProfiles(
    plan.columns,
    encoding,
    (columns) =>
      hasSessionColumns(columns) && !isAboutSessions(plan.filters)
        ? withSessionsOf(columns, { scope: plan.scope, order: 'desc' }, bind, page)
        : page(columns),
    {
      order: 'desc',
      isChecked: plan.expected !== undefined,
      ...(isTable(encoding.format) && { typed: typedColumns(plan.sampleNames, bind) }),
    },
  )
  return {
    ...(plan.expected && listsOf(plan.expected)),
    sql,
    params,
  }
}

function newestOf({ kind }: VisitorsPlan, from: string, where: string, limit: string): string {
  const people = `SELECT ts_millis, event_id, ${hemNumber} AS _hem_number
FROM ${from}
WHERE ${where}
  AND _hem_number != 0
${newestFirst}
LIMIT 1 BY _hem_number`
  if (kind === 'buyers') return `SELECT ts_millis, event_id FROM (\n${people}\nLIMIT ${limit}\n)`
  return `SELECT ts_millis, event_id
FROM (
${people}
) AS people ANY INNER JOIN (${companyDomains}) AS companies USING _hem_number
${newestFirst}
LIMIT 1 BY company_domain
LIMIT ${limit}`
}

function conditionsOf(plan: VisitorsPlan, bind: Bind): readonly string[] {
  const { scope, includesDsp, gaps } = plan
  // Events of campaigns have no pixel.
  const isOfPixelOrCampaign = includesDsp && scope.pixelId !== null
  return [
    ...selectionConditions(
      isOfPixelOrCampaign ? { ...plan, scope: { ...scope, pixelId: null } } : plan,
      bind,
    ),
    ...(isOfPixelOrCampaign
      ? [`(pixel_id = ${bind('UUID', scope.pixelId!)} OR source = 'svcdsp')`]
      : []),
    ...expectedConditions(plan.expected),
    ...gaps.map(
      ({ startMs, endMs }) =>
        `(ts_millis < ${bind('Int64', startMs)} OR ts_millis >= ${bind('Int64', endMs)})`,
    ),
  ]
}
