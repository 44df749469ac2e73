import type { Query } from '../platform/clickhouse/client.ts'
import { bindings } from '../query/bind.ts'
import { eventsSource } from '../query/eventsSource.ts'
import type { Filter } from '../query/filter.ts'
import { conditions } from '../query/where.ts'
import { metBy, namesOf } from './met.ts'
import type { AnalyticsPlan } from './plan.ts'

/** How many visitors got how far. */
export interface FunnelRow {
  /** Steps taken, from 1. */
  level: number
  visitors: number
}

/**
 * How many visitors took so many steps and no more: events that meet the plan and the first step's filters, then the
 * second's, and so on, all within `withinMs` of the first. An event takes one step.
 */
export function funnelQuery(
  plan: AnalyticsPlan,
  steps: readonly (readonly Filter[])[],
  withinMs: number,
): Query {
  const { bind, params } = bindings()
  const organization = bind('UUID', plan.scope.organizationId)
  const where = conditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, namesOf(steps), bind)
  const reached = steps.map((filters) => metBy(filters, organization, bind)).join(',\n    ')
  return {
    sql: `${declared}SELECT level, count() AS visitors
FROM (
SELECT windowFunnel(${bind('UInt64', withinMs)}, 'strict_once')(toUInt64(ts_millis),
    ${reached}) AS level
FROM ${from}
WHERE ${where}
GROUP BY cookie_id
)
WHERE level > 0
GROUP BY level
ORDER BY level`,
    params,
  }
}
