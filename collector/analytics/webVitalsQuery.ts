import { bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { hitConditions } from './hits/selectedHits.ts'

export const metrics = ['LCP', 'INP', 'CLS', 'FCP', 'TTFB'] as const

/** The metrics of a page, or of all pages. */
export interface VitalsRow extends Record<Lowercase<(typeof metrics)[number]>, number | null> {
  is_overall: boolean
  page_path: string | null
  samples: number
}

/** The metrics at the 75th percentile: one row for all pages, then the pages with the most measurements. */
export function webVitalsQuery(plan: AnalyticsPlan, pagesMax: number): Query {
  const { bind, params } = bindings()
  const value = "JSONExtract(event_data, 'properties', 'value', 'Nullable(Float64)')"
  const name = "JSONExtractString(event_data, 'properties', 'name')"
  const columns = metrics.map((metric) => {
    const measured = `isNotNull(${value}) AND ${name} = '${metric}'`
    return `if(countIf(${measured}) = 0, NULL, quantileIf(0.75)(assumeNotNull(${value}), ${measured})) AS ${metric.toLowerCase()}`
  })
  return {
    sql: `SELECT grouping(page_path) = 1 AS is_overall, page_path, ${columns.join(', ')}, count() AS samples
FROM hits
WHERE ${hitConditions(plan, 'events', bind).join('\n  AND ')}
GROUP BY GROUPING SETS ((), (page_path))
ORDER BY is_overall DESC, samples DESC, page_path
LIMIT ${bind('UInt32', pagesMax + 1)}
SETTINGS force_grouping_standard_compatibility = 1`,
    params,
  }
}
