import { bindings } from '../../events/query/bind.ts'
import { hourOfEvent } from '../../events/query/dayFingerprints.ts'
import { selectionConditions } from '../../events/query/filter/filterSql.ts'
import type { Bots } from '../../events/query/filter/selection.ts'
import { millisOf } from '../../events/query/sessionSplit.ts'
import { dayOfSql } from '../../events/query/window/localDays.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { dimensionColumns, fieldDimension, groupingSets } from '../breakdownQuery.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { rolledFields, rolledSessionFields, wholeDay } from '../rollup/countedFields.ts'
import type { CountedThing } from '../rollup/runs.ts'
import { inSpans, joinSpans } from '../rollup/spans.ts'
import { joinNumbers, type Numbering, numberVisitors } from '../rollup/visitorNumbers.ts'
import { dateSql } from '../sessionRows.ts'
import { eachField, sessionPages } from '../sessionsQuery.ts'
import { pathOf, sessionsSql, untilNext } from '../sessionsSql.ts'
import { countSessionRows } from './countSessionRows.ts'
import {
  type Counting,
  closedOn,
  closingHour,
  latelyPlan,
  nearby,
  type Project,
  planOf,
  runSql,
  sessionsPlan,
  settings,
  windowOf,
} from './spansOfRuns.ts'

/** Counts days or hours. */
type Count = (
  clickhouse: ClickHouse,
  project: Project,
  day: number,
  counted: readonly Counting[],
) => Promise<Numbering>

/**
 * Counts a day, or hours of it, as rows of runs. Readers ignore them until they are recorded. Uses these
 * visitor numbers.
 */
export const count: Record<CountedThing, Count> = {
  events: countEvents,
  sessions: countSessions('excluded'),
  sessions_with_bots: countSessions('included'),
  session_rows: countSessionRows,
}

const rolledDimensions = rolledFields.map(fieldDimension)

async function countEvents(
  clickhouse: ClickHouse,
  project: Project,
  day: number,
  counted: readonly Counting[],
): Promise<Numbering> {
  const plan = planOf(project, windowOf(counted))
  const numbering = await numberVisitors(clickhouse, project, plan.window, settings)
  const { bind, params } = bindings()
  const spans = inSpans('ts_millis', joinSpans(counted), bind)
  const where = [...selectionConditions(plan, bind), spans].join('\n  AND ')
  const projectId = bind('UUID', project.projectId)
  await clickhouse.command({
    sql: `INSERT INTO analytics_days (project_id, date, run_id, is_bot, dimension, value, events, page_views, visitors)
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, ${runSql(hourOfEvent, counted, bind)} AS run, is_bot,
  ${dimensionColumns(rolledDimensions).join(', ')},
  count(), countIf(event_type = 'page_view'), groupBitmapState(number)
FROM events ${joinNumbers('cookie_id', projectId, `SELECT cookie_id FROM events WHERE ${where}`)}
WHERE ${where}${groupingSets(rolledDimensions, { by: ['run', 'is_bot'], hasWhole: true })}
${settings}, force_grouping_standard_compatibility = 1`,
    params,
  })
  return numbering
}

function countSessions(bots: Bots): Count {
  return async (clickhouse, project, day, counted) => {
    const { startMs, endMs } = windowOf(counted)
    const sessions = sessionsPlan(project, day, endMs, bots)
    const lately = latelyPlan(project, { startMs, endMs }, bots)
    const numbering = await numberVisitors(clickhouse, project, lately.window, settings)
    await clickhouse.command(sessionTotalsInsert(sessions, day, counted))
    await clickhouse.command(sessionPagesInsert(sessions, lately, day, counted))
    await clickhouse.command(sessionFieldsInsert(sessions, lately, day, counted))
    return numbering
  }
}

function sessionTotalsInsert(
  plan: AnalyticsPlan,
  day: number,
  counted: readonly Counting[],
): Query {
  const { bind, params } = bindings()
  const sessions = sessionsSql(plan, bind, { closedOn: closedOn(counted) })
  const dayOf = (event: string) =>
    dayOfSql(millisOf(event), plan.zone, nearby(day, plan.zone), bind)
  const rows = `arrayConcat([(${dayOf('_session[-1]')}, 1, notEmpty(_views), length(_views) = 1, toInt64(0))],
    arrayMap((view, ms) -> (${dayOf('view')}, 0, false, false, ms), _views, ${untilNext(sessions)}))`
  return {
    sql: `INSERT INTO analytics_session_days
  (project_id, date, run_id, dimension, since, sessions, viewing_sessions, bounced_sessions, page_ms)
SELECT ${bind('UUID', plan.scope.projectId!)}, ${dateSql(bind('Int64', day))},
  ${runSql(closingHour(millisOf('_session[-1]')), counted, bind)} AS run, '${wholeDay}',
  ${dateSql('row.1')} AS since_day, sum(row.2), sum(row.3), sum(row.4), sum(row.5)
FROM (
${sessions.sql}
)
ARRAY JOIN ${rows} AS row
GROUP BY run, since_day
${settings}`,
    params,
  }
}

/** `lately` contains the last events of the sessions. */
function sessionPagesInsert(
  plan: AnalyticsPlan,
  lately: AnalyticsPlan,
  day: number,
  counted: readonly Counting[],
): Query {
  const { bind, params } = bindings()
  const { sql } = sessionsSql(plan, bind, { hasPaths: true, closedOn: closedOn(counted) })
  const lastMs = millisOf('_session[-1]')
  const projectId = bind('UUID', plan.scope.projectId!)
  const pages = Object.entries(sessionPages).map(([page, event]) => `('${page}', ${pathOf(event)})`)
  const cookies = `SELECT cookie_id FROM events WHERE ${selectionConditions(lately, bind).join(' AND ')}`
  return {
    sql: `INSERT INTO analytics_session_days (project_id, date, run_id, dimension, since, value, sessions, visitors)
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, ${runSql(closingHour(lastMs), counted, bind)} AS run, page.1,
  ${dateSql(dayOfSql(lastMs, plan.zone, nearby(day, plan.zone), bind))} AS since_day, page.2, count(), groupBitmapState(number)
FROM (
${sql}
) AS sessions ${joinNumbers('_cookie_id', projectId, cookies)}
ARRAY JOIN [${pages.join(', ')}] AS page
WHERE notEmpty(_views)
GROUP BY run, page.1, page.2, since_day
${settings}`,
    params,
  }
}

/**
 * Events and page views are counted on their own days, so that a window excludes those from before its start.
 */
function sessionFieldsInsert(
  plan: AnalyticsPlan,
  lately: AnalyticsPlan,
  day: number,
  counted: readonly Counting[],
): Query {
  const { bind, params } = bindings()
  const { sql } = sessionsSql(plan, bind, {
    fields: rolledSessionFields,
    closedOn: closedOn(counted),
  })
  const projectId = bind('UUID', plan.scope.projectId!)
  const cookies = `SELECT cookie_id FROM events WHERE ${selectionConditions(lately, bind).join(' AND ')}`
  const dayOf = (event: string) =>
    dayOfSql(millisOf(event), plan.zone, nearby(day, plan.zone), bind)
  const rows = `arrayMap(since -> (since, arrayCount(event -> ${dayOf('event')} = since, _session),
    arrayCount(event -> ${dayOf('event')} = since, _views), since = ${dayOf('_session[-1]')}),
    arrayDistinct(arrayMap(event -> ${dayOf('event')}, _session)))`
  return {
    sql: `INSERT INTO analytics_session_days
  (project_id, date, run_id, since, dimension, value, events, page_views, sessions, visitors)
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, run, since_day, _field.1, _field.2,
  sum(row.2), sum(row.3), countIf(row.4), groupBitmapStateIf(number, row.4)
FROM (
SELECT *, row, ${runSql(closingHour(millisOf('_session[-1]')), counted, bind)} AS run, ${dateSql('row.1')} AS since_day
FROM (
${sql}
) AS sessions ${joinNumbers('_cookie_id', projectId, cookies)}
ARRAY JOIN ${rows} AS row
)
${eachField(rolledSessionFields)}
GROUP BY run, since_day, _field.1, _field.2
${settings}`,
    params,
  }
}
