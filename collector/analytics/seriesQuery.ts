import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import { dayMs } from '../events/query/window.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import {
  rolledFigures,
  rolledSettings,
  rolledTotalColumns,
  wholeDay,
} from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** An interval with events. */
export interface SeriesRow extends Totals {
  /** Start of the interval, epoch milliseconds. */
  start_ms: number
}

/**
 * Selects the intervals with events, with all times moved later by `laterMs`; `startOf` returns SQL of an
 * interval's start. With counted days, intervals are complete days.
 */
export function seriesQuery(
  plan: AnalyticsPlan,
  startOf: (millis: string) => string,
  laterMs = 0,
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  const startAt = (millis: string) =>
    `${startOf(laterMs === 0 ? millis : `(${millis} + ${bind('Int64', laterMs)})`)} AS start_ms`
  if (rolled) {
    const by = {
      dimensions: [wholeDay],
      rolled: [startAt(`(toInt64(date) * ${dayMs})`)],
      scanned: [startAt('ts_millis')],
      groupBy: '\nGROUP BY start_ms',
    }
    const sql = `SELECT start_ms, ${rolledTotalColumns}
FROM ${rolledFigures(plan, rolled, by, bind)}
GROUP BY start_ms
${rolledSettings}`
    return { sql, params }
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
