import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import type { FunnelSteps } from './funnelSteps.ts'

/** The number of visitors who reached a level. */
export interface FunnelRow {
  /** Completed steps, from 1. */
  level: number
  visitors: number
}

/** Selects how many visitors completed each number of steps and no more. */
export function funnelQuery(plan: AnalyticsPlan, funnel: FunnelSteps): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT level, count() AS visitors
FROM (
${levelsSql(plan, funnel, bind)}
)
WHERE level > 0
GROUP BY level
ORDER BY level`,
    params,
  }
}

/**
 * SQL: the number of steps, `level`, that each visitor took. The visitor's events match the plan and the
 * first step's filters, then the second's, and so on, all within `withinMs` of the first. An event takes one
 * step. `more` are columns (SQL) of the visitor's events that match the plan.
 */
export function levelsSql(
  plan: AnalyticsPlan,
  { steps, withinMs }: FunnelSteps,
  bind: Bind,
  more: readonly string[] = [],
): string {
  const organization = bind('UUID', plan.scope.organizationId)
  const { declared, from } = eventsSource(plan, namesOf(steps), bind)
  const reached = steps
    .map((filters) => filterPredicate(filters, organization, bind))
    .join(',\n    ')
  const level = `windowFunnel(${bind('UInt64', withinMs)}, 'strict_once')(toUInt64(ts_millis),
    ${reached}) AS level`
  return `${declared}SELECT ${[level, ...more].join(', ')}
FROM ${from}
WHERE ${selectionConditions(plan, bind).join('\n  AND ')}
GROUP BY cookie_id`
}
