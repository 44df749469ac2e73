import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import type { Filter } from '../events/query/filter.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import { startSql } from './intervals.ts'

/** Visitors who began in one interval and returned in a later one. */
export interface RetentionRow {
  /** Start of the cohort's interval, epoch milliseconds. */
  start_ms: number
  /** Start of the interval in which they returned. */
  again_ms: number
  visitors: number
}

/** The conditions for a visitor's beginning and return. */
interface Coming {
  /** Filters of the event with which a visitor begins. */
  readonly first: readonly Filter[]
  /** Filters of the event with which a visitor returns. */
  readonly returning: readonly Filter[]
}

/**
 * Selects, for each cohort, how many visitors returned in each interval. A cohort consists of the visitors
 * who began in one interval of the window. One scan covers all cohorts, whereas `retention()` needs a
 * condition for each.
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
