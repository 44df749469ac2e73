import { type Bind, bindings } from '../events/query/bind.ts'
import { restMs, visitorsOf } from '../events/query/sessions.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { rolledSettings, wholeDay } from './rollup/eventFigures.ts'
import { type RolledDays, rolledRows } from './rollup/rolledDays.ts'
import { inSpans, type Span } from './rollup/spans.ts'
import {
  joinNumbers,
  mergedVisitors,
  rolledVisitors,
  scannedVisitors,
} from './rollup/visitorNumbers.ts'
import { pathOf, type Sessions, sessionsSql } from './sessionsSql.ts'

/** What is counted of sessions; they are those of the events that the plan is about. */
export interface SessionTotals {
  sessions: number
  /** Of these, those that have a page view. */
  viewing_sessions: number
  /** Of these, those that have one alone. */
  bounced_sessions: number
  /** Milliseconds of the page views that the plan is about, each until the next one, the last until its session's last event. */
  page_ms: number
}

/** SQL of the sums of SessionTotals. */
export const sessionTotalColumns = `sum(sessions) AS sessions, sum(viewing_sessions) AS viewing_sessions,
  sum(bounced_sessions) AS bounced_sessions, sum(page_ms) AS page_ms`

/** One row of SessionTotals. */
export function sessionTotalsQuery(plan: AnalyticsPlan, rolled: RolledDays | null = null): Query {
  const { bind, params } = bindings()
  const sessions = sessionsSql(plan, bind, { closedOn: rolled?.scanned })
  const scanned = `SELECT count() AS sessions, countIf(notEmpty(_views)) AS viewing_sessions,
  countIf(length(_views) = 1) AS bounced_sessions, sum(arraySum(${untilNext(sessions)})) AS page_ms
FROM (
${sessions.sql}
)`
  if (!rolled) return { sql: scanned, params }
  const counted = `SELECT sessions, viewing_sessions, bounced_sessions, page_ms
FROM analytics_session_days
WHERE ${rolledSessions(rolled, wholeDay, bind)}`
  return {
    sql: `SELECT ${sessionTotalColumns}\nFROM (\n${counted}\nUNION ALL\n${scanned}\n)\n${rolledSettings}`,
    params,
  }
}

/** SQL: of each page view of a session that meets the plan the milliseconds until the next, of the last until the last event. */
export function untilNext({ form: { millis }, meets }: Sessions): string {
  const times = `arrayMap(view -> ${millis('view')}, _views)`
  return `arrayMap((view, place, time, following) -> if(${meets('view', 'place')}, following - time, 0),
    _views, arrayEnumerate(_views), ${times}, arraySlice(arrayPushBack(arrayPopFront(${times}), ${millis('_session[-1]')}), 1, length(_views)))`
}

/** SQL: of counted rows those of a window that begins with the first day. */
export const rolledSessions = (rolled: RolledDays, dimension: string, bind: Bind): string =>
  `${rolledRows(rolled, [dimension], bind)} AND since >= toDate(toUInt16(${bind('Int64', rolled.firstDay)}))`

/** Which page view of a session a breakdown is by. */
export const sessionPages = { entry_page: '_views[1]', exit_page: '_views[-1]' } as const
export type SessionPage = keyof typeof sessionPages

/** A page that sessions begin or end with. */
export interface SessionPageRow {
  value: string | null
  sessions: number
  visitors: number
}

/** Sessions that have page views by the path of the first or the last, most first, and one more than the limit. */
export function sessionPagesQuery(
  plan: AnalyticsPlan,
  page: SessionPage,
  limit: number,
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  const { sql } = sessionsSql(plan, bind, { hasPaths: true, closedOn: rolled?.scanned })
  const scanned = `SELECT ${pathOf(sessionPages[page])} AS value, count() AS sessions`
  const grouped = 'WHERE notEmpty(_views)\nGROUP BY value'
  const select = () => {
    if (!rolled)
      return `${scanned}, uniqExact(_cookie_id) AS visitors\nFROM (\n${sql}\n)\n${grouped}`
    const cookies = `SELECT cookie_id FROM events WHERE ${scannedCookies(plan, rolled.scanned, bind)}`
    return `SELECT value, sum(sessions) AS sessions, ${mergedVisitors} AS visitors
FROM (
SELECT value, sessions, ${rolledVisitors}
FROM analytics_session_days
WHERE ${rolledSessions(rolled, page, bind)}
UNION ALL
${scanned}, ${scannedVisitors('_cookie_id')}
FROM (
${sql}
) AS sessions ${joinNumbers('_cookie_id', bind('UUID', rolled.projectId), cookies)}
${grouped}
)
GROUP BY value`
  }
  return {
    sql: `${select()}\nORDER BY sessions DESC, value\nLIMIT ${bind('UInt32', limit + 1)}${rolled ? `\n${rolledSettings}` : ''}`,
    params,
  }
}

/** SQL of the events without which no session closes in these times (epoch milliseconds). */
const scannedCookies = (plan: AnalyticsPlan, spans: readonly Span[], bind: Bind): string =>
  [
    ...visitorsOf(plan, bind),
    `ts_millis < ${bind('Int64', plan.window.endMs)}`,
    inSpans(
      'ts_millis',
      spans.map(({ first, end }) => ({ first: first - restMs, end })),
      bind,
    ),
  ].join(' AND ')
