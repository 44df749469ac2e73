import type { Query } from '../platform/clickhouse/client.ts'
import { eventsSource } from '../query/eventsSource.ts'
import { bindings, conditions } from '../query/where.ts'
import type { AnalyticsPlan } from './plan.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** A value of a dimension. */
export interface BreakdownRow extends Totals {
  dimension: string
  value: string | null
}

/**
 * The values of several fields, which are names from the field table: of each those with the most visitors, and one
 * more than the limit. One look at the events for all of them.
 */
export function breakdownsQuery(plan: AnalyticsPlan, fields: readonly string[], limit: number): Query {
  const { bind, params } = bindings()
  const where = conditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, fields, bind)
  const dimension = `multiIf(${fields.flatMap((field) => [`grouping(${field}) = 0`, `'${field}'`]).join(', ')}, '')`
  const value = `multiIf(${fields.flatMap((field) => [`grouping(${field}) = 0`, `toString(${field})`]).join(', ')}, NULL)`
  return {
    sql: `${declared}SELECT ${dimension} AS dimension, ${value} AS value,
  ${totalColumns}
FROM ${from}
WHERE ${where}
GROUP BY GROUPING SETS (${fields.map((field) => `(${field})`).join(', ')})
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit + 1)} BY dimension
SETTINGS force_grouping_standard_compatibility = 1`,
    params,
  }
}
