import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import type { Filter } from '../events/query/filter.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import { freeSql } from '../events/query/freeAnswers.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { namesOf } from './filterPredicate.ts'
import { type GoalCounts, goalColumns } from './goalColumns.ts'
import { rolledFigures, rolledSettings, rolledTotalColumns } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

/** A value of a dimension. */
export interface BreakdownRow extends Totals, Partial<GoalCounts> {
  dimension: string
  value: string | null
}

/** The parameters for reading values of dimensions. */
export interface BreakdownAsked {
  readonly limit: number
  readonly rolled?: RolledDays | null
  readonly goal?: readonly Filter[] | null
}

/**
 * Selects the values of several fields (names from the field table), those with the most visitors first, and
 * one more than the limit. It reads the events once for all fields. With counted days, all fields must be
 * dimensions of the counts.
 */
export function breakdownsQuery(
  plan: AnalyticsPlan,
  fields: readonly string[],
  { limit, rolled = null, goal = null }: BreakdownAsked,
): Query {
  const { bind, params } = bindings()
  const scanned = dimensionColumns(fields)
  const sets = groupingSets(fields)
  const select = () => {
    if (rolled) {
      const by = {
        dimensions: fields,
        rolled: ['toString(dimension) AS dimension', 'value'],
        scanned,
        groupBy: sets,
      }
      return `SELECT dimension, value, ${rolledTotalColumns}
FROM ${rolledFigures(plan, rolled, by, bind)}
GROUP BY dimension, value`
    }
    const where = selectionConditions(plan, bind).join('\n  AND ')
    const { declared, from } = eventsSource(plan, [...fields, ...namesOf([goal ?? []])], bind)
    const columns = [
      ...scanned,
      totalColumns,
      ...goalColumns(goal, bind('UUID', plan.scope.organizationId), bind),
    ]
    return `${declared}SELECT ${columns.join(',\n  ')}
FROM ${from}
WHERE ${where}${sets}`
  }
  return {
    sql: `${select()}
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit + 1)} BY dimension
${rolled ? `${rolledSettings},` : 'SETTINGS'} force_grouping_standard_compatibility = 1`,
    params,
  }
}

/** Returns SQL of the name of a row's grouping set, empty for the total, and of its value. */
export const dimensionColumns = (
  fields: readonly string[],
  names: readonly string[] = fields,
): readonly string[] => [
  `multiIf(${fields.flatMap((field, index) => [`grouping(${freeSql(field)}) = 0`, `'${names[index]}'`]).join(', ')}, '') AS dimension`,
  `multiIf(${fields.flatMap((field) => [`grouping(${freeSql(field)}) = 0`, `toString(${freeSql(field)})`]).join(', ')}, NULL) AS value`,
]

/**
 * Returns SQL of grouping by each of these fields, and by none if it `hasWhole`; each also groups by the
 * columns `by`.
 */
export function groupingSets(
  fields: readonly string[],
  { by = [], hasWhole = false }: { by?: readonly string[]; hasWhole?: boolean } = {},
): string {
  const sets = [...fields.map((field) => [...by, freeSql(field)]), ...(hasWhole ? [by] : [])]
  return `\nGROUP BY GROUPING SETS (${sets.map((set) => `(${set.join(', ')})`).join(', ')})`
}
