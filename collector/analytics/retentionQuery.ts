import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import type { Filter } from '../events/query/filter.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import { startSql } from './intervals.ts'

/** Visitors who began in one interval and came again so many intervals later. */
export interface RetentionRow {
  /** When the cohort's interval begins, epoch milliseconds. */
  start_ms: number
  /** When the interval in which they came again begins. */
  again_ms: number
  visitors: number
}

/** Whether a visitor began, and when they came again. */
interface Coming {
  /** What an event meets that a visitor begins with. */
  readonly first: readonly Filter[]
  /** What an event meets by which a visitor comes again. */
  readonly returning: readonly Filter[]
}

/**
 * Of each cohort, which is who began in one interval of the window, how many came again in it and in each later one.
 * One look at the events whatever the number of cohorts, where `retention()` takes a condition for each.
 */
export function retentionQuery(
  plan: AnalyticsPlan,
  { first, returning }: Coming,
  starts: readonly number[],
): Query {
  const { bind, params } = bindings()
  const start = startSql('ts_millis', starts, bind)
  const organization = bind('UUID', plan.scope.organizationId)
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, namesOf([first, returning]), bind)
  const begins = filterPredicate(first, organization, bind)
  return {
    sql: `${declared}SELECT start_ms, again_ms, count() AS visitors
FROM (
SELECT minIf(${start}, ${begins}) AS start_ms,
  groupUniqArrayIf(${start}, ${filterPredicate(returning, organization, bind)}) AS returns
FROM ${from}
WHERE ${where}
GROUP BY cookie_id
HAVING countIf(${begins}) > 0
)
ARRAY JOIN arrayDistinct(arrayPushBack(returns, start_ms)) AS again_ms
WHERE again_ms >= start_ms
GROUP BY start_ms, again_ms
ORDER BY start_ms, again_ms`,
    params,
  }
}
