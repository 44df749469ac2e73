import type { Query } from '../platform/clickhouse/client.ts'
import { eventsSource } from '../query/eventsSource.ts'
import { bindings, conditions } from '../query/where.ts'
import type { AnalyticsPlan } from './plan.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** An interval that has events. */
export interface SeriesRow extends Totals {
  /** When it begins, epoch milliseconds. */
  start_ms: number
}

/**
 * The intervals that have events, as if these had happened `laterMs` later; `startOf` makes SQL of when the interval of
 * a time begins.
 */
export function seriesQuery(plan: AnalyticsPlan, startOf: (millis: string) => string, laterMs = 0): Query {
  const { bind, params } = bindings()
  const where = conditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, [], bind)
  const start = startOf(laterMs === 0 ? 'ts_millis' : `(ts_millis + ${bind('Int64', laterMs)})`)
  return {
    sql: `${declared}SELECT ${start} AS start_ms, ${totalColumns}
FROM ${from}
WHERE ${where}
GROUP BY start_ms`,
    params,
  }
}
