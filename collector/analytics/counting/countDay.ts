import { type Bind, bindings } from '../../events/query/bind.ts'
import { hourOfEvent } from '../../events/query/dayFingerprints.ts'
import { sampleOf, selectionConditions, sessionFieldSql } from '../../events/query/filterSql.ts'
import { dayOfSql, startOfDay } from '../../events/query/localDays.ts'
import type { Bots } from '../../events/query/selection.ts'
import { millisOf, restMs } from '../../events/query/sessionSplit.ts'
import { hourMs, type Window } from '../../events/query/window.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import type { TimeZone } from '../../platform/timeZone.ts'
import { dimensionColumns, fieldDimension, groupingSets } from '../breakdownQuery.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import {
  rolledFields,
  rolledSessionFields,
  storedSessionFields,
  wholeDay,
} from '../rollup/countedFields.ts'
import { type CountedThing, zeroUuid } from '../rollup/runs.ts'
import { inSpans, joinSpans, type Span } from '../rollup/spans.ts'
import { joinNumbers, type Numbering, numberVisitors } from '../rollup/visitorNumbers.ts'
import { daysOfSession, daysOfSessions, figuresOfRows } from '../sessionRows.ts'
import { stepColumns, stepNames } from '../sessionSteps.ts'
import { eachField, sessionPages } from '../sessionsQuery.ts'
import { pathOf, sessionsSql, untilNext } from '../sessionsSql.ts'

/** A project with days to count. */
interface Project {
  readonly organizationId: string
  readonly projectId: string
  /** The zone of the counted days. */
  readonly zone: TimeZone
}

/**
 * The job leaves cores and time to readers. Its queries end soon after it does, so that two never run at
 * once.
 */
const settings = `SETTINGS max_threads = 1, os_thread_priority = 19, max_execution_time = 200,
  max_memory_usage = ${2 * 1024 ** 3}, max_bytes_before_external_group_by = ${512 * 1024 ** 2}`

/**
 * A local day, or hours of one, in ascending order, in epoch milliseconds. One scan of the events counts all
 * of them.
 */
export interface Counting extends Span {
  readonly run_id: string
}

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

/** Returns the plan of a project's pixel events in a window. */
export const planOf = (
  { organizationId, projectId, zone }: Project,
  window: Window,
  bots: Bots = 'included',
): AnalyticsPlan => ({
  source: 'pixel',
  filters: [],
  window,
  bots,
  zone,
  scope: { organizationId, projectId, pixelId: null, campaignId: null },
})

/** Returns the window from the first to the last counted time. */
const windowOf = (counted: readonly Counting[]): Window => ({
  startMs: counted[0]!.first,
  endMs: counted.at(-1)!.end,
})

/** Returns SQL of the run of an hour (SQL, since 1970, UTC). */
function runSql(hour: string, counted: readonly Counting[], bind: Bind): string {
  const firstHour = Math.floor(counted[0]!.first / hourMs)
  const runs = Array.from(
    { length: Math.ceil(counted.at(-1)!.end / hourMs) - firstHour },
    (_, index) => {
      const at = (firstHour + index) * hourMs
      return counted.find(({ first, end }) => first < at + hourMs && at < end)?.run_id ?? zeroUuid
    },
  )
  return `${bind('Array(UUID)', runs)}[${hour} - ${bind('Int64', firstHour - 1)}]`
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

/** The days that have the events of the sessions of a day. */
const nearby = (day: number, zone: TimeZone): Window => ({
  startMs: startOfDay(day - daysOfSession - 1, zone),
  endMs: startOfDay(day + 1, zone),
})

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

async function countSessionRows(
  clickhouse: ClickHouse,
  project: Project,
  day: number,
  counted: readonly Counting[],
): Promise<Numbering> {
  const window = windowOf(counted)
  const sessions = sessionsPlan(project, day, window.endMs, 'excluded')
  const lately = latelyPlan(project, window, 'excluded')
  const numbering = await numberVisitors(clickhouse, project, lately.window, settings)
  await clickhouse.command(sessionRowsInsert(sessions, lately, day, counted))
  return numbering
}

/** Begins with the earliest session that can close in the window. */
const sessionsPlan = (project: Project, day: number, endMs: number, bots: Bots): AnalyticsPlan =>
  planOf(project, { startMs: startOfDay(day - daysOfSession, project.zone), endMs }, bots)

/** The window of the last events of sessions that close in a window. */
const latelyPlan = (project: Project, { startMs, endMs }: Window, bots: Bots): AnalyticsPlan =>
  planOf(project, { startMs: startMs - restMs, endMs }, bots)

const closedOn = (counted: readonly Counting[]): Span[] => joinSpans(counted)

/**
 * Returns SQL of the hour since 1970 in which a session with this last event (SQL, epoch milliseconds)
 * closes.
 */
const closingHour = (lastMs: string): string => `intDiv(${lastMs} + ${restMs}, ${hourMs})`

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

function sessionRowsInsert(
  plan: AnalyticsPlan,
  lately: AnalyticsPlan,
  day: number,
  counted: readonly Counting[],
): Query {
  const { bind, params } = bindings()
  const sessions = sessionsSql(plan, bind, {
    hasTypes: true,
    fields: storedSessionFields,
    closedOn: closedOn(counted),
  })
  const dayOf = (event: string) =>
    dayOfSql(millisOf(event), plan.zone, nearby(day, plan.zone), bind)
  // Each event once, however many days the session has.
  const steps = stepColumns('arrayFilter(_ -> row.2, _session)')
  const { columns, join } = daysOfSessions(sessions, dayOf, {
    events: '_session',
    counts: () => 'true',
  })
  const projectId = bind('UUID', plan.scope.projectId!)
  const cookies = `SELECT cookie_id FROM events WHERE ${selectionConditions(lately, bind).join(' AND ')}`
  const fields = storedSessionFields.map(sessionFieldSql)
  return {
    sql: `INSERT INTO counted_sessions (project_id, date, run_id, since, number, sample, ${[...figuresOfRows, ...fields, ...stepNames].join(', ')})
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, ${runSql(closingHour(millisOf('_session[-1]')), counted, bind)},
  ${dateSql('row.1')}, number, ${sampleOf('number')}, ${[columns, ...fields, ...steps].join(', ')}
FROM (
${sessions.sql}
) AS sessions ${joinNumbers('_cookie_id', projectId, cookies)}
${join}
${settings}`,
    params,
  }
}

/** Returns SQL of the date of a day since 1970. */
const dateSql = (day: string): string => `toDate(toUInt16(${day}))`
