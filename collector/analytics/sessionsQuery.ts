import { type Bind, bindings } from '../events/query/bind.ts'
import { sessionFieldSql } from '../events/query/filter/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { BreakdownAsked } from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { type GoalCounts, sessionGoalColumns } from './goalColumns.ts'
import { wholeDay } from './rollup/countedFields.ts'
import { rolledSettings } from './rollup/eventFigures.ts'
import { type RolledDays, rolledRows } from './rollup/rolledDays.ts'
import {
  joinNumbers,
  mergedVisitors,
  rolledVisitors,
  scannedVisitors,
} from './rollup/visitorNumbers.ts'
import { scannedCookies, sessionRows, visitorsOfRows, visitorsOfRowsIf } from './sessionRows.ts'
import { pathOf, type Sessions, sessionsSql, untilNext } from './sessionsSql.ts'
import type { Totals } from './totalsQuery.ts'

/** Counts of sessions with events of the plan. */
export interface SessionTotals {
  sessions: number
  /** Sessions with at least one page view. */
  viewing_sessions: number
  /** Sessions with exactly one page view. */
  bounced_sessions: number
  /**
   * Total duration in milliseconds of the plan's page views, each until the next one, the last until its
   * session's last event.
   */
  page_ms: number
}

/** SQL of the sums of SessionTotals. */
export const sessionTotalColumns = `sum(sessions) AS sessions, sum(viewing_sessions) AS viewing_sessions,
  sum(bounced_sessions) AS bounced_sessions, sum(page_ms) AS page_ms`

/** One row of SessionTotals and Totals. For filters on sessions, where joining events with sessions costs more. */
export function sessionEventTotalsQuery(
  plan: AnalyticsPlan,
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  if (rolled) {
    const sql = `SELECT ${sessionTotalColumns}, sum(events) AS events, ${visitorsOfRows} AS visitors, sum(page_views) AS page_views
FROM (
${sessionRows(plan, rolled, {}, bind)}
)
${rolledSettings}`
    return { sql, params }
  }
  const sessions = sessionsSql(plan, bind)
  const sql = `SELECT ${scannedTotals(sessions)}, sum(${sessions.events}) AS events,
  uniqExact(_cookie_id) AS visitors, sum(${sessions.pageViews}) AS page_views
FROM (
${sessions.sql}
)`
  return { sql, params }
}

/** SQL: the columns of SessionTotals over sessions. */
const scannedTotals = (
  sessions: Sessions,
): string => `count() AS sessions, countIf(notEmpty(_views)) AS viewing_sessions,
  countIf(length(_views) = 1) AS bounced_sessions, sum(arraySum(${untilNext(sessions)})) AS page_ms`

/** Selects one row of SessionTotals. */
export function sessionTotalsQuery(plan: AnalyticsPlan, rolled: RolledDays | null = null): Query {
  const { bind, params } = bindings()
  const sessions = sessionsSql(plan, bind, { closedOn: rolled?.scanned })
  const scanned = `SELECT ${scannedTotals(sessions)}
FROM (
${sessions.sql}
)`
  if (!rolled) return { sql: scanned, params }
  const counted = `SELECT sessions, viewing_sessions, bounced_sessions, page_ms
FROM analytics_session_days
WHERE ${rolledSessions(rolled, [wholeDay], bind)}`
  return {
    sql: `SELECT ${sessionTotalColumns}\nFROM (\n${counted}\nUNION ALL\n${scanned}\n)\n${rolledSettings}`,
    params,
  }
}

/** Returns SQL of the counted rows of a window that begins with the first day. */
export const rolledSessions = (
  rolled: RolledDays,
  dimensions: readonly string[],
  bind: Bind,
): string =>
  `${rolledRows(rolled, dimensions, bind)} AND since >= toDate(toUInt16(${bind('Int64', rolled.firstDay)}))`

/** The page view of a session by which a breakdown groups. */
export const sessionPages = { entry_page: '_views[1]', exit_page: '_views[-1]' } as const
export type SessionPage = keyof typeof sessionPages

/** A page with which sessions begin or end. */
export interface SessionPageRow extends Partial<GoalCounts> {
  value: string | null
  sessions: number
  visitors: number
}

/**
 * Selects sessions with page views by the path of the first or the last, most first, and one more than the
 * limit.
 */
export function sessionPagesQuery(
  plan: AnalyticsPlan,
  page: SessionPage,
  { limit, rolled = null, rows = null, goal = null }: BreakdownAsked,
): Query {
  const { bind, params } = bindings()
  const goals = goal ? [goal] : []
  const limited = `ORDER BY sessions DESC, value\nLIMIT ${bind('UInt32', limit + 1)}${rolled || rows ? `\n${rolledSettings}` : ''}`
  if (rows) {
    const columns = [
      `${sessionFieldSql(page)} AS value`,
      'sum(sessions) AS sessions',
      `${visitorsOfRows} AS visitors`,
      ...sessionGoalColumns(goal, visitorsOfRowsIf),
    ]
    const sql = `SELECT ${columns.join(', ')}
FROM (
${sessionRows(plan, rows, { fields: [page], goals }, bind)}
)
WHERE viewing_sessions = 1
GROUP BY value
${limited}`
    return { sql, params }
  }
  const { sql } = sessionsSql(plan, bind, { hasPaths: true, goals, closedOn: rolled?.scanned })
  const scanned = `SELECT ${pathOf(sessionPages[page])} AS value, count() AS sessions`
  const grouped = 'WHERE notEmpty(_views)\nGROUP BY value'
  const select = () => {
    if (!rolled)
      return `${[scanned, 'uniqExact(_cookie_id) AS visitors', ...sessionGoalColumns(goal)].join(', ')}
FROM (
${sql}
)
${grouped}`
    const cookies = `SELECT cookie_id FROM events WHERE ${scannedCookies(plan, rolled.scanned, bind)}`
    return `SELECT value, sum(sessions) AS sessions, ${mergedVisitors} AS visitors
FROM (
SELECT value, sessions, ${rolledVisitors}
FROM analytics_session_days
WHERE ${rolledSessions(rolled, [page], bind)}
UNION ALL
${scanned}, ${scannedVisitors('_cookie_id')}
FROM (
${sql}
) AS sessions ${joinNumbers('_cookie_id', bind('UUID', rolled.projectId), cookies)}
${grouped}
)
GROUP BY value`
  }
  return { sql: `${select()}\n${limited}`, params }
}

/** A value of a session field. */
export interface SessionValueRow extends Totals, Partial<GoalCounts> {
  dimension: string
  value: string | null
  sessions: number
}

/**
 * Selects the values of session fields, those with the most visitors first, and one more than the limit.
 * Events and page views are those of these sessions that match the plan.
 */
export function sessionBreakdownsQuery(
  plan: AnalyticsPlan,
  fields: readonly string[],
  { limit, rolled = null, rows = null, goal = null }: BreakdownAsked,
): Query {
  const { bind, params } = bindings()
  const goals = goal ? [goal] : []
  const limited = `ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit + 1)} BY dimension${rolled || rows ? `\n${rolledSettings}` : ''}`
  if (rows) {
    const columns = [
      '_field.1 AS dimension',
      '_field.2 AS value',
      'sum(events) AS events',
      'sum(page_views) AS page_views',
      'sum(sessions) AS sessions',
      `${visitorsOfRows} AS visitors`,
      ...sessionGoalColumns(goal, visitorsOfRowsIf),
    ]
    const sql = `SELECT ${columns.join(', ')}
FROM (
${sessionRows(plan, rows, { fields, goals }, bind)}
) ${eachField(fields)}
GROUP BY dimension, value
${limited}`
    return { sql, params }
  }
  const { sql, events, pageViews } = sessionsSql(plan, bind, {
    fields,
    goals,
    closedOn: rolled?.scanned,
  })
  const sessions = `SELECT *, ${events} AS _events, ${pageViews} AS _page_views FROM (\n${sql}\n)`
  const columns = [
    '_field.1 AS dimension',
    '_field.2 AS value',
    'sum(_events) AS events',
    'sum(_page_views) AS page_views',
    'count() AS sessions',
  ]
  const grouped = `${eachField(fields)}\nGROUP BY dimension, value`
  const select = () => {
    if (!rolled) {
      const visitors = 'uniqExact(_cookie_id) AS visitors'
      return `SELECT ${[...columns, visitors, ...sessionGoalColumns(goal)].join(', ')}
FROM (
${sessions}
) ${grouped}`
    }
    const cookies = `SELECT cookie_id FROM events WHERE ${scannedCookies(plan, rolled.scanned, bind)}`
    return `SELECT dimension, value, sum(events) AS events, sum(page_views) AS page_views, sum(sessions) AS sessions,
  ${mergedVisitors} AS visitors
FROM (
SELECT toString(dimension) AS dimension, value, events, page_views, sessions, ${rolledVisitors}
FROM analytics_session_days
WHERE ${rolledSessions(rolled, fields, bind)}
UNION ALL
SELECT ${[...columns, scannedVisitors('_cookie_id')].join(', ')}
FROM (
${sessions}
) AS sessions ${joinNumbers('_cookie_id', bind('UUID', rolled.projectId), cookies)}
${grouped}
)
GROUP BY dimension, value`
  }
  return { sql: `${select()}\n${limited}`, params }
}

/**
 * Returns SQL after FROM rows of sessions: a row for each of these fields, `_field`, with its name and value.
 * Grouping sets have the same result, but ClickHouse takes many times longer to plan them.
 */
export const eachField = (fields: readonly string[]): string =>
  `ARRAY JOIN [${fields
    .map((name) => `('${name}', CAST(${sessionFieldSql(name)}, 'Nullable(String)'))`)
    .join(', ')}] AS _field`
