import { hemNumber } from '../../../schemas/fields.ts'
import { isTable } from '../../api/http/negotiateFormat.ts'
import { companyDomains } from '../../identity/store/profileSql.ts'
import type { ListQuery, Query } from '../../platform/clickhouse/client.ts'
import { type Bind, bindings } from '../query/bind.ts'
import { type Column, columnsFrom, selectList, typedColumns } from '../query/columns.ts'
import { eventsSource } from '../query/eventsSource.ts'
import { selectionConditions } from '../query/filter/filterSql.ts'
import { newestFirst } from '../query/order.ts'
import { pageInsideProfiles } from '../query/page/eventsQuery.ts'
import type { RowEncoding } from '../query/page/rowEncoding.ts'
import { expectedConditions, listsOf } from '../query/profiles/expectedRecords.ts'
import { hasSessionColumns, isAboutSessions, withSessionsOf } from '../query/sessions.ts'
import type { VisitorsPlan } from './visitorsRequest.ts'

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
