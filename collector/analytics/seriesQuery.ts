import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filter/filterSql.ts'
import { millisOf } from '../events/query/sessionSplit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { dayStartSql, startSql } from './intervals.ts'
import { wholeDay } from './rollup/countedFields.ts'
import { rolledFigures, rolledSettings, rolledTotalColumns } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { sessionRows, visitorsOfRows } from './sessionRows.ts'
import { selectsSessions, sessionsSql } from './sessionsSql.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** An interval with events. */
export interface SeriesRow extends Totals {
  /** Start of the interval, epoch milliseconds. */
  start_ms: number
}

/**
 * Selects the intervals with events. The starts of the intervals (epoch milliseconds) are given in ascending
 * order. With counts of days, intervals begin with days.
 */
export function seriesQuery(
  plan: AnalyticsPlan,
  starts: readonly number[],
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  const startAt = (millis: string) => `${startSql(millis, starts, bind)} AS start_ms`
  if (rolled && selectsSessions(plan)) {
    const sql = `SELECT ${dayStartSql('since', starts, plan.zone, bind)} AS start_ms, sum(events) AS events,
  ${visitorsOfRows} AS visitors, sum(page_views) AS page_views
FROM (
${sessionRows(plan, rolled, {}, bind)}
)
GROUP BY start_ms
${rolledSettings}`
    return { sql, params }
  }
  if (rolled) {
    const by = {
      dimensions: [wholeDay],
      rolled: [`${dayStartSql('date', starts, plan.zone, bind)} AS start_ms`],
      scanned: [startAt('ts_millis')],
      groupBy: '\nGROUP BY start_ms',
    }
    const sql = `SELECT start_ms, ${rolledTotalColumns}
FROM ${rolledFigures(plan, rolled, by, bind)}
GROUP BY start_ms
${rolledSettings}`
    return { sql, params }
  }
  if (selectsSessions(plan)) {
    const { sql, met, form } = sessionsSql(plan, bind)
    return {
      sql: `SELECT ${startAt(millisOf('event'))}, count() AS events, uniqExact(_cookie_id) AS visitors,
  countIf(${form.isPageView('event')}) AS page_views
FROM (
${sql}
)
ARRAY JOIN ${met} AS event
GROUP BY start_ms`,
      params,
    }
  }
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, [], bind)
  return {
    sql: `${declared}SELECT ${startAt('ts_millis')}, ${totalColumns}
FROM ${from}
WHERE ${where}
GROUP BY start_ms`,
    params,
  }
}
