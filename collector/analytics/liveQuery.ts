import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filter/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import {
  type BreakdownRow,
  dimensionColumns,
  fieldDimension,
  groupingSets,
} from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { totalColumns } from './totalsQuery.ts'

export const minuteMs = 60_000
const minute = { name: "'minute'", sql: `intDiv(ts_millis, ${minuteMs})` }

/** Figures of all events, without a dimension, of a minute (since 1970) or of a `page_path`. */
export interface LiveRow extends Omit<BreakdownRow, 'dimension'> {
  dimension: '' | 'minute' | 'page_path'
  /** Visitors with an event since a time. */
  visitors_since: number
}

/**
 * Selects the figures of all events, those of each minute, and those of the pages with the most visitors. `limit` is the
 * most rows of each dimension.
 */
export function liveQuery(
  plan: AnalyticsPlan,
  { sinceMs, limit }: { sinceMs: number; limit: number },
): Query {
  const { bind, params } = bindings()
  const dimensions = [minute, fieldDimension('page_path')]
  const { declared, from } = eventsSource(plan, ['page_path'], bind)
  const columns = [
    ...dimensionColumns(dimensions),
    totalColumns,
    `uniqExactIf(cookie_id, ts_millis >= ${bind('Int64', sinceMs)}) AS visitors_since`,
  ]
  return {
    sql: `${declared}SELECT ${columns.join(',\n  ')}
FROM ${from}
WHERE ${selectionConditions(plan, bind).join('\n  AND ')}${groupingSets(dimensions, { hasWhole: true })}
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit)} BY dimension
SETTINGS force_grouping_standard_compatibility = 1`,
    params,
  }
}
