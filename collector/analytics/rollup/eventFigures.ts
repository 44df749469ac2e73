import type { Bind } from '../../events/query/bind.ts'
import { botsCondition, selectionConditions } from '../../events/query/filter/filterSql.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { type RolledDays, rolledRows } from './rolledDays.ts'
import { inSpans } from './spans.ts'
import { joinNumbers, mergedVisitors, rolledVisitors, scannedVisitors } from './visitorNumbers.ts'

/** The groupings of figures: columns of counted rows and of events, and the groups of scanned events. */
export interface By {
  /** Columns of counted rows, which have `date` and `value`. */
  readonly dimensions: readonly string[]
  readonly rolled: readonly string[]
  readonly scanned: readonly string[]
  readonly groupBy: string
}

/**
 * Settings of queries that read counts. They scan the table of numbers, because index lookups of tens of
 * thousands of cookies take twice as long. These queries are short, so counts and events are read at once.
 */
export const rolledSettings = 'SETTINGS use_index_for_in_with_subqueries = 0, max_threads = 2'

/** SQL of the columns of Totals over rows of rolledFigures. */
export const rolledTotalColumns = `sum(events) AS events, ${mergedVisitors} AS visitors, sum(page_views) AS page_views`

/**
 * Returns SQL after FROM: rows from counts of days, and from a query on the events of other days, which
 * rolledTotalColumns merges. With `keys`, only values with these keys (keyOfValue) are read from counts.
 */
export function rolledFigures(
  plan: AnalyticsPlan,
  rolled: RolledDays,
  by: By,
  bind: Bind,
  keys: readonly bigint[] | null = null,
): string {
  const where = scannedWhere(plan, rolled, bind)
  const counted = [
    countedWhere(plan, rolled, by, bind),
    ...(keys ? [`${keyOfValue} IN ${bind('Array(UInt64)', keys)}`] : []),
  ]
  // Inner names differ from outer ones, because ClickHouse would resolve sum(events) AS events to its own
  // alias.
  return `(
SELECT ${[...by.rolled, 'events', 'page_views', rolledVisitors].join(', ')}
FROM analytics_days
WHERE ${counted.join(' AND ')}
UNION ALL
SELECT ${[...by.scanned, 'count() AS events', "countIf(event_type = 'page_view') AS page_views", scannedVisitors('cookie_id')].join(', ')}
FROM events ${joinNumbers('cookie_id', bind('UUID', rolled.projectId), `SELECT cookie_id FROM events WHERE ${where}`)}
WHERE ${where}${by.groupBy}
) AS figures`
}

/** SQL over rows with a dimension and a value: a number for both. */
export const keyOfValue = "cityHash64(toString(dimension), ifNull(value, ''))"

/** The same rows without visitors, which takes a fraction of the time. */
export const rolledEvents = (
  plan: AnalyticsPlan,
  rolled: RolledDays,
  by: By,
  bind: Bind,
): string => `(
SELECT ${[...by.rolled, 'events'].join(', ')}
FROM analytics_days
WHERE ${countedWhere(plan, rolled, by, bind)}
UNION ALL
SELECT ${[...by.scanned, 'count() AS events'].join(', ')}
FROM events
WHERE ${scannedWhere(plan, rolled, bind)}${by.groupBy}
) AS figures`

const countedWhere = (
  { bots }: AnalyticsPlan,
  rolled: RolledDays,
  { dimensions }: By,
  bind: Bind,
): string => [rolledRows(rolled, dimensions, bind), ...botsCondition(bots)].join(' AND ')

const scannedWhere = (plan: AnalyticsPlan, { scanned }: RolledDays, bind: Bind): string =>
  [...selectionConditions(plan, bind), inSpans('ts_millis', scanned, bind)].join('\n  AND ')
