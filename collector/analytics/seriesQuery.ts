import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import { dayMs } from '../events/query/window.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { startColumn } from './intervals.ts'
import {
  rolledFigures,
  rolledSettings,
  rolledTotalColumns,
  wholeDay,
} from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** An interval that has events. */
export interface SeriesRow extends Totals {
  /** When it begins, epoch milliseconds. */
  start_ms: number
}

/**
 * The intervals that have events, as if these had happened `laterMs` later; `startOf` makes SQL of when the interval of
 * a time begins. Where days are given that were counted, intervals are whole days.
 */
export function seriesQuery(
  plan: AnalyticsPlan,
  startOf: (millis: string) => string,
  laterMs = 0,
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  const startAt = (millis: string) => startColumn(startOf, millis, laterMs, bind)
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
