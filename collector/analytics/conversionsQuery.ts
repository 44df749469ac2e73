import { type Bind, bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { type GoalConditions, sumOfValues, valuesOf } from './goals.ts'
import { hitConditions, hitsWith, meetsFilters } from './hits/selectedHits.ts'
import { startSql } from './intervals.ts'

/**
 * Selects one row: `visitors` of the plan, and those `converted` at any goal. Each goal has, by its index,
 * `events_0`, `visitors_0`, `value_0` and so on. A goal with a value also has `missing_0`, its events without one. `sums`
 * are groups of goals with the same value, by their indexes. `sum_0` and so on are the values of the events of each group;
 * an event of several goals counts once.
 */
export function conversionsQuery(
  plan: AnalyticsPlan,
  goals: readonly GoalConditions[],
  sums: readonly (readonly number[])[],
): Query {
  const { bind, params } = bindings()
  const { from, values } = hitsWith(goals.flatMap(valuesOf), plan, 'events', bind)
  let read = 0
  const ownValues = goals.map(({ valuePath }) => (valuePath ? values[read++] : undefined))
  const columns = goals.flatMap((goal, index) => {
    const value = ownValues[index]
    return [
      `countIf(${meetsFilters(goal.filters, plan, 'events', bind)} AS met_${index}) AS events_${index}`,
      `uniqExactIf(cookie_id, met_${index}) AS visitors_${index}`,
      `${sumOfValues(value, `met_${index}`)} AS value_${index}`,
      ...(value ? [`countIf(met_${index} AND ${value} IS NULL) AS missing_${index}`] : []),
    ]
  })
  const isAnyOf = (indexes: readonly number[]) =>
    indexes.map((index) => `met_${index}`).join(' OR ')
  columns.push(
    `uniqExactIf(cookie_id, ${isAnyOf([...goals.keys()]) || 'false'}) AS converted`,
    ...sums.map(
      (group, index) => `${sumOfValues(ownValues[group[0]!], isAnyOf(group))} AS sum_${index}`,
    ),
  )
  return {
    sql: `SELECT uniqExact(cookie_id) AS visitors,
  ${columns.join(',\n  ')}
FROM ${from}
WHERE ${hitConditions(plan, 'events', bind).join('\n  AND ')}`,
    params,
  }
}

/** Selects the visitors who reach any of the goals, by interval. The starts of the intervals are ascending. */
export function conversionSeriesQuery(
  plan: AnalyticsPlan,
  goals: readonly GoalConditions[],
  starts: readonly number[],
): Query {
  const { bind, params } = bindings()
  const where = [...hitConditions(plan, 'events', bind), `(${reachesAny(plan, goals, bind)})`]
  return {
    sql: `SELECT ${startSql('ts_millis', starts, bind)} AS start_ms, uniqExact(cookie_id) AS converted
FROM hits
WHERE ${where.join('\n  AND ')}
GROUP BY start_ms`,
    params,
  }
}

const reachesAny = (plan: AnalyticsPlan, goals: readonly GoalConditions[], bind: Bind): string =>
  goals.map(({ filters }) => `(${meetsFilters(filters, plan, 'events', bind)})`).join(' OR ') ||
  'false'
