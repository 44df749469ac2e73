import { bindings } from '../events/query/bind.ts'
import { millisOf } from '../events/query/sessionSplit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { dayStartSql, startSql } from './intervals.ts'
import { wholeDay } from './rollup/countedFields.ts'
import { rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { sessionRows } from './sessionRows.ts'
import { rolledSessions, type SessionTotals, sessionTotalColumns } from './sessionsQuery.ts'
import { selectsSessions, sessionsSql, untilNext } from './sessionsSql.ts'

/** An interval in which sessions end or pages are viewed. */
export interface SessionSeriesRow extends SessionTotals {
  /** Start of the interval, epoch milliseconds. */
  start_ms: number
}

/**
 * Counts sessions in the interval of their last event, and time on page in the interval of the page view. Intervals
 * begin at these times, in ascending order. Rolled days require intervals of days.
 */
export function sessionSeriesQuery(
  plan: AnalyticsPlan,
  starts: readonly number[],
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  if (rolled && selectsSessions(plan)) {
    const sql = `SELECT ${dayStartSql('since', starts, plan.zone, bind)} AS start_ms, ${sessionTotalColumns}
FROM (
${sessionRows(plan, rolled, {}, bind)}
)
GROUP BY start_ms
${rolledSettings}`
    return { sql, params }
  }
  const sessions = sessionsSql(plan, bind, { closedOn: rolled?.scanned })
  const rows = `arrayConcat([(${millisOf('_session[-1]')}, 1, notEmpty(_views), length(_views) = 1, toInt64(0))],
    arrayMap((view, ms) -> (${millisOf('view')}, 0, false, false, ms), _views, ${untilNext(sessions)}))`
  const scanned = `SELECT ${startSql('row.1', starts, bind)} AS start_ms, sum(row.2) AS sessions, sum(row.3) AS viewing_sessions,
  sum(row.4) AS bounced_sessions, sum(row.5) AS page_ms
FROM (
${sessions.sql}
)
ARRAY JOIN ${rows} AS row
GROUP BY start_ms`
  if (!rolled) return { sql: scanned, params }
  const counted = `SELECT ${dayStartSql('since', starts, plan.zone, bind)} AS start_ms, sessions, viewing_sessions, bounced_sessions, page_ms
FROM analytics_session_days
WHERE ${rolledSessions(rolled, [wholeDay], bind)}`
  return {
    sql: `SELECT start_ms, ${sessionTotalColumns}\nFROM (\n${counted}\nUNION ALL\n${scanned}\n)
GROUP BY start_ms\n${rolledSettings}`,
    params,
  }
}
