/**
 * Figures of a period and of its intervals, over hits. This file decides how sessions are counted: as sums over rows, or by
 * session where conditions on single events apply (selectsEvents).
 */
import { type Bind, bindings } from '../events/query/bind.ts'
import { isEntry, isPageView, sessionKey, sessionStart } from '../events/query/sessionOfHit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import {
  hitConditions,
  isFirstOfSession,
  isInWindow,
  meetsPlan,
  selectsEvents,
  sessionConditions,
  startsInWindow,
} from './hits/selectedHits.ts'
import { startSql } from './intervals.ts'

/** Counts of events; visitors are distinct cookies. */
export interface Totals<Count = number> {
  events: Count
  visitors: Count
  page_views: Count
}

/** Counts of sessions that start in the window. */
interface SessionTotals {
  sessions: number
  /** Sessions with at least one page view. */
  viewing_sessions: number
  /** Sessions with exactly one page view. */
  bounced_sessions: number
  /** The page views of these sessions that match the plan. */
  viewed_pages: number
  /** Their duration in milliseconds, each until the next one, the last until its session's last event. */
  page_ms: number
}

/** The figures of a period, and those of the bots that match, which its own may leave out. */
export interface PeriodRow extends Totals, SessionTotals {
  bot_events: number
  bot_visitors: number
  bot_page_views: number
}

/** SQL of the columns of Totals. `first` is a condition that one of the rows of each visitor meets (isFirstOfSession). */
export const totalColumns = (first?: string): string =>
  `count() AS events, ${first ? `uniqExactIf(cookie_id, ${first})` : 'uniqExact(cookie_id)'} AS visitors, countIf(${isPageView}) AS page_views`

/** The same of rows that meet a condition, with a prefix of the names. */
export const totalColumnsIf = (condition: string, prefix = '', first?: string): string =>
  `countIf(${condition}) AS ${prefix}events, uniqExactIf(cookie_id, ${condition}${first ? ` AND ${first}` : ''}) AS ${prefix}visitors, countIf(${isPageView} AND ${condition}) AS ${prefix}page_views`

/** SQL of the columns of SessionTotals if all events of each session count; a condition may choose sessions. */
function sessionColumns(condition?: string): string {
  const isCounted = condition ? ` AND ${condition}` : ''
  return [
    `countIf(session_event = 1${isCounted}) AS sessions`,
    `countIf(${isEntry}${isCounted}) AS viewing_sessions`,
    `viewing_sessions - countIf(${isPageView} AND session_page = 2${isCounted}) AS bounced_sessions`,
    `countIf(${isPageView}${isCounted}) AS viewed_pages`,
    `${condition ? `sumIf(session_gap_ms, ${condition})` : 'sum(session_gap_ms)'} AS page_ms`,
  ].join(',\n  ')
}

export function totalsQuery(plan: AnalyticsPlan): Query {
  const { bind, params } = bindings()
  return { sql: totalsSql(totalColumns(), plan, bind), params }
}

const totalsSql = (columns: string, plan: AnalyticsPlan, bind: Bind): string =>
  `SELECT ${columns}\nFROM hits\nWHERE ${all(hitConditions(plan, 'events', bind))}`

export function periodQuery(plan: AnalyticsPlan): Query {
  const { bind, params } = bindings()
  const withBots: AnalyticsPlan = { ...plan, bots: 'included' }
  const isOwn = plan.bots === 'included' ? 'true' : 'NOT is_bot'
  const columnsOf = (own: string, bots: string, first?: string) =>
    `${totalColumnsIf(own, '', first)},\n  ${totalColumnsIf(bots, 'bot_', first)}`
  if (selectsEvents(plan)) {
    const totals = totalsSql(columnsOf(isOwn, 'is_bot'), withBots, bind)
    const sql = `SELECT *
FROM (
${totals}
) AS totals, (
${selectedSessionsSql(plan, null, bind)}
) AS sessions`
    return { sql, params }
  }
  const sql = `WITH ${isInWindow(plan, bind)} AS is_in_window,
  ${startsInWindow(plan, bind)} AND ${isOwn} AS is_counted,
  ${isFirstOfSession(plan, bind)} AS is_first
SELECT ${columnsOf(`is_in_window AND ${isOwn}`, 'is_in_window AND is_bot', 'is_first')},
  ${sessionColumns('is_counted')}
FROM hits
WHERE ${all(sessionConditions(withBots, 'both', bind))}`
  return { sql, params }
}

/** The intervals of a series that have events. */
export interface SeriesRow extends Totals {
  /** Start of the interval, epoch milliseconds. */
  start_ms: number
}

/** Selects the totals of intervals, whose starts are ascending. */
export function seriesQuery(plan: AnalyticsPlan, starts: readonly number[]): Query {
  const { bind, params } = bindings()
  const columns = `${startSql('ts_millis', starts, bind)} AS start_ms, ${totalColumns()}`
  return { sql: `${totalsSql(columns, plan, bind)}\nGROUP BY start_ms`, params }
}

/** The intervals of a series in which sessions start. */
export interface SessionSeriesRow extends SessionTotals {
  start_ms: number
}

/** Selects the sessions of intervals, whose starts are ascending. */
export function sessionSeriesQuery(plan: AnalyticsPlan, starts: readonly number[]): Query {
  const { bind, params } = bindings()
  if (selectsEvents(plan)) return { sql: selectedSessionsSql(plan, starts, bind), params }
  const sql = `SELECT ${startSql(sessionStart, starts, bind)} AS start_ms,
  ${sessionColumns()}
FROM hits
WHERE ${all(sessionConditions(plan, 'sessions', bind))}
GROUP BY start_ms`
  return { sql, params }
}

/**
 * Returns SQL of SessionTotals where conditions on single events apply, by interval if there are starts. A session counts
 * if one of its events meets them. The time until an event belongs to the page view before it, and counts if that page
 * view meets them.
 */
function selectedSessionsSql(
  plan: AnalyticsPlan,
  starts: readonly number[] | null,
  bind: Bind,
): string {
  const start = starts ? `${startSql(sessionStart, starts, bind)} AS start_ms,\n  ` : ''
  const key = sessionKey(plan.scope.projectId)
  const sessions = sessionConditions(plan, 'sessions', bind)
  const meets = meetsPlan(plan, 'sessions', bind)
  // Most filters select few sessions, and collecting the others costs more than finding these.
  const isSelective = plan.filters.some(({ op }) => op !== 'ne')
  const selected = `(${key}) IN (\nSELECT ${key}\nFROM hits\nWHERE ${all([...sessions, meets])}\n)`
  return `SELECT ${starts ? 'start_ms, ' : ''}count() AS sessions, countIf(_pages > 0) AS viewing_sessions, countIf(_pages = 1) AS bounced_sessions,
  sum(arraySum(_views_met)) AS viewed_pages,
  sum(arraySum((gap, view) -> if(view > 0, gap * _views_met[view], 0), _gaps, _gap_views)) AS page_ms
FROM (
WITH ${meets} AS _meets
SELECT ${start}max(session_page) AS _pages, arraySort((met, view) -> view, groupArrayIf(_meets, ${isPageView}), groupArrayIf(session_page, ${isPageView})) AS _views_met,
  groupArray(session_gap_ms) AS _gaps, groupArray(session_page - (${isPageView})) AS _gap_views
FROM hits
WHERE ${all(isSelective ? [...sessions, selected] : sessions)}
GROUP BY ${key}
HAVING countIf(_meets) > 0
)${starts ? '\nGROUP BY start_ms' : ''}`
}

const all = (conditions: readonly string[]): string => conditions.join('\n  AND ')
