import type { Query } from '../platform/clickhouse/client.ts'
import { bindings } from '../query/where.ts'
import type { AnalyticsPlan } from './plan.ts'
import { pathOf, sessionsSql } from './sessionsSql.ts'

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

/** One row of SessionTotals. */
export function sessionTotalsQuery(plan: AnalyticsPlan): Query {
  const { bind, params } = bindings()
  const { sql, form, meets } = sessionsSql(plan, bind)
  const { millis } = form
  const times = `arrayMap(view -> ${millis('view')}, _views)`
  const untilNext = `arrayMap((view, place, time, following) -> if(${meets('view', 'place')}, following - time, 0),
    _views, arrayEnumerate(_views), ${times}, arraySlice(arrayPushBack(arrayPopFront(${times}), ${millis('_session[-1]')}), 1, length(_views)))`
  return {
    sql: `SELECT count() AS sessions, countIf(notEmpty(_views)) AS viewing_sessions,
  countIf(length(_views) = 1) AS bounced_sessions, sum(arraySum(${untilNext})) AS page_ms
FROM (
${sql}
)`,
    params,
  }
}

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
export function sessionPagesQuery(plan: AnalyticsPlan, page: SessionPage, limit: number): Query {
  const { bind, params } = bindings()
  const { sql } = sessionsSql(plan, bind, { hasPaths: true })
  return {
    sql: `SELECT ${pathOf(sessionPages[page])} AS value, count() AS sessions, uniqExact(_cookie_id) AS visitors
FROM (
${sql}
)
WHERE notEmpty(_views)
GROUP BY value
ORDER BY sessions DESC, value
LIMIT ${bind('UInt32', limit + 1)}`,
    params,
  }
}
