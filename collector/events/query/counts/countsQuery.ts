import type { Query } from '../../../platform/clickhouse/client.ts'
import { bindings } from '../bind.ts'
import { columnsFrom, selectList } from '../columns.ts'
import { eventsSource } from '../eventsSource.ts'
import { selectionConditions } from '../filter/filterSql.ts'
import type { CountsPlan } from './countsPlan.ts'

/** The column of countsQuery with the count of all groups together; it is the same in every row. */
export const totalColumn = '_total'

/** Prevents ClickHouse from simplifying uniqExact(tuple(a)) to uniqExact(a), which ignores nulls. */
const keepTuples = '\nSETTINGS optimize_injective_functions_inside_uniq = 0'

/** Groups by time are sorted by time, all others by size. */
function orderOf({ groups }: CountsPlan): readonly string[] {
  const names = groups.map(({ name }) => name)
  const isTime = (name: string) => name === 'hour' || name === 'day'
  return [...names.filter(isTime), 'count DESC', ...names.filter((name) => !isTime(name))]
}

/**
 * Counts per group, sorted by time or largest first. Returns one group more than the limit, which shows that
 * there are more. `distinct` counts the rows of the tier route with the same `distinct`, so a null counts as
 * a value.
 */
export function countsQuery(plan: CountsPlan): Query {
  const { bind, params } = bindings()
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const names = plan.groups.map(({ name }) => name)
  const distinct = plan.distinct.map(({ name }) => name).join(', ')
  const columns = [
    ...(plan.groups.length > 0 ? [selectList(columnsFrom(plan.source, plan.groups))] : []),
    'count() AS count',
    ...(distinct ? [`uniqExact(tuple(${distinct})) AS \`distinct\``] : []),
    `sum(count()) OVER () AS ${totalColumn}`,
  ]
  const from = eventsSource(plan, names, bind)
  const sql = `SELECT ${columns.join(', ')}
FROM ${from}
WHERE ${where}${names.length > 0 ? `\nGROUP BY ${names.join(', ')}` : ''}
ORDER BY ${orderOf(plan).join(', ')}
LIMIT ${bind('UInt32', plan.limit + 1)}${distinct ? keepTuples : ''}`
  return { sql, params }
}
