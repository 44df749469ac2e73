import type { Query } from '../platform/clickhouse/client.ts'
import { eventsSource } from '../query/eventsSource.ts'
import type { Filter } from '../query/filter.ts'
import { bindings, conditions } from '../query/where.ts'
import { metBy, namesOf } from './met.ts'
import type { AnalyticsPlan } from './plan.ts'

/** One row: `visitors` of the plan, and of each goal, by its place, `events_0`, `visitors_0` and so on. */
export function conversionsQuery(plan: AnalyticsPlan, goals: readonly (readonly Filter[])[]): Query {
  const { bind, params } = bindings()
  const organization = bind('UUID', plan.scope.organizationId)
  const where = conditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, namesOf(goals), bind)
  const columns = goals.flatMap((filters, index) => {
    const met = metBy(filters, organization, bind)
    return [`countIf(${met}) AS events_${index}`, `uniqExactIf(cookie_id, ${met}) AS visitors_${index}`]
  })
  return {
    sql: `${declared}SELECT ${['uniqExact(cookie_id) AS visitors', ...columns].join(',\n  ')}
FROM ${from}
WHERE ${where}`,
    params,
  }
}
