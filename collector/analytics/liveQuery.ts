import { bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { hitConditions } from './hits/selectedHits.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

export const minuteMs = 60_000

/** Figures of all events, or of those of a minute (since 1970) or of a `page_path`. */
export interface LiveRow extends Totals {
  dimension: '' | 'minute' | 'page_path'
  value: string | null
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
  return {
    sql: `WITH intDiv(ts_millis, ${minuteMs}) AS minute
SELECT multiIf(grouping(minute) = 0, 'minute', grouping(page_path) = 0, 'page_path', '') AS dimension,
  multiIf(grouping(minute) = 0, toString(minute), grouping(page_path) = 0, toString(page_path), NULL) AS value,
  ${totalColumns()},
  uniqExactIf(cookie_id, ts_millis >= ${bind('Int64', sinceMs)}) AS visitors_since
FROM hits
WHERE ${hitConditions(plan, 'events', bind).join('\n  AND ')}
GROUP BY GROUPING SETS ((minute), (page_path), ())
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit)} BY dimension
SETTINGS force_grouping_standard_compatibility = 1`,
    params,
  }
}
