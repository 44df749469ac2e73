import { type Bind, bindings } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { hitConditions, meetsFilters } from './hits/selectedHits.ts'

/** Visitors who began in one interval and returned in a later one. */
export interface RetentionRow {
  /** The place of the cohort's interval, from 0. */
  cohort: number
  /** The place of the interval in which they returned. */
  again: number
  visitors: number
}

/** The conditions for a visitor's beginning and return. */
export interface Coming {
  /** Filters of the event with which a visitor begins. */
  readonly first: readonly Filter[]
  /** Filters of the event with which a visitor returns. */
  readonly returning: readonly Filter[]
}

/** The most intervals of a window: a visitor's intervals are bits of one number. */
export const cohortsMax = 60

/**
 * Selects, for each cohort, how many visitors returned in each interval. A cohort consists of the visitors
 * who began in one interval of the window. `starts` are the starts of the intervals, in ascending order.
 */
export function retentionQuery(
  plan: AnalyticsPlan,
  { first, returning }: Coming,
  starts: readonly number[],
): Query {
  const { bind, params } = bindings()
  const meets = (filters: readonly Filter[]) => meetsFilters(filters, plan, 'events', bind)
  return {
    sql: `SELECT cohort, again, count() AS visitors
FROM (
WITH ${placeSql(starts, bind)} AS place,
  ${meets(first)} AS begins,
  ${meets(returning)} AS returns
SELECT minIf(place, begins) AS cohort, groupBitOrIf(bitShiftLeft(toUInt64(1), place), returns) AS returned
FROM hits
WHERE ${[...hitConditions(plan, 'events', bind), '(begins OR returns)'].join('\n  AND ')}
GROUP BY cookie_id
HAVING countIf(begins) > 0
)
ARRAY JOIN arrayFilter(place -> place >= cohort, bitPositionsToArray(bitOr(returned, bitShiftLeft(toUInt64(1), cohort)))) AS again
GROUP BY cohort, again
ORDER BY cohort, again`,
    params,
  }
}

/** Returns SQL of the place of an event's interval: the last one that does not start after it. */
function placeSql(starts: readonly number[], bind: Bind): string {
  const bound = bind('Array(Int64)', starts)
  const places = bind(
    'Array(UInt8)',
    starts.map((_, place) => place),
  )
  return `transform(roundDown(ts_millis, ${bound}), ${bound}, ${places}, toUInt8(0))`
}
