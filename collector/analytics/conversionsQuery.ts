import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filter/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import { dimensionColumns, fieldDimension, groupingSets } from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import { goalEvents, goalSum, goalValue, sumOfValues } from './goalColumns.ts'
import type { GoalConditions } from './goals.ts'
import { startSql } from './intervals.ts'
import { isRolledFilter, wholeDay } from './rollup/countedFields.ts'
import { rolledFigures, rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { mergedVisitorsIf } from './rollup/visitorNumbers.ts'
import { sessionRows, visitorsOfRows, visitorsOfRowsIf } from './sessionRows.ts'

/**
 * Selects one row: `visitors` of the plan, those `converted` at any goal, and for each goal, by index,
 * `events_0`, `visitors_0`, `value_0` and so on. Counts must cover all goals: those of days (isRolledGoal), and `rows` of
 * `counted_sessions` (isStoredGoal).
 */
export function conversionsQuery(
  plan: AnalyticsPlan,
  goals: readonly GoalConditions[],
  { rolled = null, rows = null }: { rolled?: RolledDays | null; rows?: RolledDays | null } = {},
): Query {
  const { bind, params } = bindings()
  if (rolled) return { sql: rolledConversions(plan, goals, rolled, bind), params }
  if (rows) return { sql: storedConversions(plan, goals, rows, bind), params }
  const organization = bind('UUID', plan.scope.organizationId)
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, namesOf(filtersOf(goals)), bind)
  const columns = goals.flatMap((goal, index) => {
    const met = filterPredicate(goal.filters, organization, bind)
    return [
      `countIf(${met} AS met_${index}) AS events_${index}`,
      `uniqExactIf(cookie_id, met_${index}) AS visitors_${index}`,
      `${sumOfValues(`if(met_${index}, ${goalValue(goal, bind)}, 0)`)} AS value_${index}`,
    ]
  })
  return {
    sql: `${declared}SELECT uniqExact(cookie_id) AS visitors,
  ${[...columns, `uniqExactIf(cookie_id, ${anyOf(goals)}) AS converted`].join(',\n  ')}
FROM ${from}
WHERE ${where}`,
    params,
  }
}

const filtersOf = (goals: readonly GoalConditions[]) => goals.map(({ filters }) => filters)

/**
 * Selects the visitors who reach any of the goals, by interval. The starts of the intervals are given in
 * ascending order.
 */
export function conversionSeriesQuery(
  plan: AnalyticsPlan,
  goals: readonly GoalConditions[],
  starts: readonly number[],
): Query {
  const { bind, params } = bindings()
  const organization = bind('UUID', plan.scope.organizationId)
  const any = goals.map(({ filters }) => `(${filterPredicate(filters, organization, bind)})`)
  const where = [...selectionConditions(plan, bind), `(${any.join(' OR ') || 'false'})`]
  const { declared, from } = eventsSource(plan, namesOf(filtersOf(goals)), bind)
  return {
    sql: `${declared}SELECT ${startSql('ts_millis', starts, bind)} AS start_ms, uniqExact(cookie_id) AS converted
FROM ${from}
WHERE ${where.join('\n  AND ')}
GROUP BY start_ms`,
    params,
  }
}

const anyOf = (goals: readonly unknown[]): string =>
  goals.map((_, index) => `met_${index}`).join(' OR ') || 'false'

/** Whether counts of days include a goal. */
export const isRolledGoal = ({ filters, valuePath }: GoalConditions): boolean =>
  valuePath === null && filters.length === 1 && filters.every(isRolledFilter)

function storedConversions(
  plan: AnalyticsPlan,
  goals: readonly GoalConditions[],
  rows: RolledDays,
  bind: Bind,
): string {
  const reached = goals.map((_, index) => `${goalEvents(index)} > 0`)
  const columns = goals.flatMap((_, index) => [
    `sum(${goalEvents(index)}) AS events_${index}`,
    `${visitorsOfRowsIf(reached[index]!)} AS visitors_${index}`,
    `${sumOfValues(goalSum(index))} AS value_${index}`,
  ])
  return `SELECT ${visitorsOfRows} AS visitors,
  ${[...columns, `${visitorsOfRowsIf(reached.join(' OR ') || 'false')} AS converted`].join(',\n  ')}
FROM (
${sessionRows(plan, rows, { goals }, bind)}
)
${rolledSettings}`
}

function rolledConversions(
  plan: AnalyticsPlan,
  goals: readonly GoalConditions[],
  rolled: RolledDays,
  bind: Bind,
): string {
  const fields = [...new Set(namesOf(filtersOf(goals)))]
  const dimensions = fields.map(fieldDimension)
  const columns = goals.flatMap(({ filters: [filter] }, index) => {
    const values = [filter!, ...(filter!.others ?? [])].map(({ value }) => String(value))
    const met = `(dimension = ${bind('String', filter!.field!.name)} AND ifNull(value IN ${bind('Array(String)', values)}, false) AS met_${index})`
    return [
      `sumIf(events, ${met}) AS events_${index}`,
      `${mergedVisitorsIf(`met_${index}`)} AS visitors_${index}`,
      `0 AS value_${index}`,
    ]
  })
  const by = {
    dimensions: [wholeDay, ...fields],
    rolled: ['toString(dimension) AS dimension', 'value'],
    scanned:
      fields.length > 0 ? dimensionColumns(dimensions) : ["'' AS dimension", 'NULL AS value'],
    groupBy: fields.length > 0 ? groupingSets(dimensions, { hasWhole: true }) : '',
  }
  return `SELECT ${mergedVisitorsIf(`dimension = '${wholeDay}'`)} AS visitors,
  ${[...columns, `${mergedVisitorsIf(anyOf(goals))} AS converted`].join(',\n  ')}
FROM ${rolledFigures(plan, rolled, by, bind)}
${rolledSettings}, force_grouping_standard_compatibility = 1`
}
