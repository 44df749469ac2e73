import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { pathIntoEventData } from '../events/query/filter/filter.ts'
import { type Payload, payloadOf, selectionConditions } from '../events/query/filter/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import { eventRows } from './eventRows.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import { type GoalCounts, goalValue, visitorGoalColumns } from './goalColumns.ts'
import type { GoalConditions } from './goals.ts'
import {
  type By,
  rolledFigures,
  rolledSettings,
  rolledTotalColumns,
} from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { visitorsOfRows } from './sessionRows.ts'
import { columnOfDimension, storedPayload } from './storedEvents.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** A value of a dimension. */
export interface BreakdownRow extends Totals, Partial<GoalCounts> {
  dimension: string
  value: string | null
}

/** The parameters for reading values of dimensions. */
export interface BreakdownAsked {
  readonly limit: number
  /** Counts of days, which have the dimensions. */
  readonly rolled?: RolledDays | null
  /** The keys of the values that `rolled` is read for; null: all of them (topValues.ts). */
  readonly keys?: readonly bigint[] | null
  /** Rows of `counted_sessions`, which have the dimensions and the goal. */
  readonly rows?: RolledDays | null
  readonly goal?: GoalConditions | null
}

/**
 * Selects the values of several fields with the most visitors, and one more than the limit. Fields are names
 * of the field table or paths into event_data. One scan reads them all. With a goal, another scan finds the visitors who
 * reach it; it needs the events.
 */
export function breakdownsQuery(
  plan: AnalyticsPlan,
  fields: readonly string[],
  { limit, rolled = null, keys = null, rows = null, goal = null }: BreakdownAsked,
): Query {
  const { bind, params } = bindings()
  const payload = rows ? storedPayload(bind) : payloadOf([], bind)
  const dimensions = fields.map((name) => dimensionOf(name, bind, payload))
  const scanned = dimensionColumns(dimensions)
  const sets = groupingSets(dimensions)
  const select = () => {
    if (rolled) {
      return `SELECT dimension, value, ${rolledTotalColumns}
FROM ${rolledFigures(plan, rolled, byFields(fields), bind, keys)}
GROUP BY dimension, value`
    }
    if (rows) {
      const read = ['event_type' as const, ...fields.map(columnOfDimension)]
      return `SELECT ${[...scanned, 'count() AS events', `${visitorsOfRows} AS visitors`, "countIf(event_type = 'page_view') AS page_views"].join(',\n  ')}
FROM (
${eventRows(plan, rows, [...new Set(read)], bind)}
)${sets}`
    }
    const where = selectionConditions(plan, bind).join('\n  AND ')
    const { declared, from } = eventsSource(plan, fields, bind)
    const columns = [...scanned, totalColumns, ...(goal ? [visitorGoalColumns] : [])]
    const joined = goal
      ? `\nANY LEFT JOIN (\n${reachedSql(plan, goal, bind)}\n) AS reached ON _reached_by = cookie_id`
      : ''
    return `${declared}SELECT ${columns.join(',\n  ')}
FROM ${from}${joined}
WHERE ${where}${sets}`
  }
  return {
    sql: `${select()}
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit + 1)} BY dimension
${rolled || rows ? `${rolledSettings},` : 'SETTINGS'} force_grouping_standard_compatibility = 1`,
    params,
  }
}

/** The grouping of counted rows by fields that counts of days have. */
export function byFields(fields: readonly string[]): By {
  const dimensions = fields.map(fieldDimension)
  return {
    dimensions: fields,
    rolled: ['toString(dimension) AS dimension', 'value'],
    scanned: dimensionColumns(dimensions),
    groupBy: groupingSets(dimensions),
  }
}

/**
 * Returns SQL with one row for each visitor who reaches the goal, with the cookie `_reached_by`. `_goal_events`
 * is the number of their events of the plan that reach it, `_goal_value` the sum of the values.
 */
function reachedSql(plan: AnalyticsPlan, goal: GoalConditions, bind: Bind): string {
  const { declared, from } = eventsSource(plan, namesOf([goal.filters]), bind)
  const where = [
    ...selectionConditions(plan, bind),
    filterPredicate(goal.filters, bind('UUID', plan.scope.organizationId), bind),
  ]
  return `${declared}SELECT cookie_id AS _reached_by, count() AS _goal_events, sum(${goalValue(goal, bind)}) AS _goal_value
FROM ${from}
WHERE ${where.join('\n  AND ')}
GROUP BY cookie_id`
}

/** A dimension: SQL of its name and of its value. */
export interface Dimension {
  readonly name: string
  readonly sql: string
}

/** Returns the dimension of a field name, or of a path into event_data. */
function dimensionOf(name: string, bind: Bind, payload: Payload): Dimension {
  const path = pathIntoEventData(name)
  return path ? { name: bind('String', name), sql: payload(path, 'String') } : fieldDimension(name)
}

/** Returns the dimension of a field of the field table. */
export const fieldDimension = (name: string): Dimension => ({
  name: `'${name}'`,
  sql: name,
})

/** Returns SQL of the name of a row's grouping set, empty for the total, and of its value. */
export const dimensionColumns = (dimensions: readonly Dimension[]): readonly string[] => [
  `multiIf(${dimensions.flatMap(({ name, sql }) => [`grouping(${sql}) = 0`, name]).join(', ')}, '') AS dimension`,
  `multiIf(${dimensions.flatMap(({ sql }) => [`grouping(${sql}) = 0`, `toString(${sql})`]).join(', ')}, NULL) AS value`,
]

/**
 * Returns SQL of grouping by each of these, and by none if it `hasWhole`; each also groups by the columns
 * `by`.
 */
export function groupingSets(
  dimensions: readonly Dimension[],
  { by = [], hasWhole = false }: { by?: readonly string[]; hasWhole?: boolean } = {},
): string {
  const sets = [...dimensions.map(({ sql }) => [...by, sql]), ...(hasWhole ? [by] : [])]
  return `\nGROUP BY GROUPING SETS (${sets.map((set) => `(${set.join(', ')})`).join(', ')})`
}
