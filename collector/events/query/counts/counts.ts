import type { QueryExecutor } from '../../../api/access/queryExecutor.ts'
import type { Query } from '../../../platform/clickhouse/client.ts'
import { bindings } from '../bind.ts'
import { columnsFrom, selectList } from '../columns.ts'
import { eventsSource } from '../eventsSource.ts'
import { selectionConditions } from '../filter/filterSql.ts'
import { nameProjects } from '../projects.ts'
import type { CountsPlan } from './countsPlan.ts'

type Group = Record<string, unknown> & { count: number }

export interface Counts {
  /** The largest groups, up to the plan's limit. */
  readonly groups: Group[]
  /** Events in all groups, including those beyond the limit. */
  readonly total: number
  readonly hasMore: boolean
}

export async function readCounts(queryExecutor: QueryExecutor, plan: CountsPlan): Promise<Counts> {
  const rows = await queryExecutor.rows<Group & { [totalColumn]: number }>(
    countsQuery(await nameProjects(queryExecutor, plan)),
  )
  return {
    groups: rows.slice(0, plan.limit).map(({ [totalColumn]: _, ...group }) => group as Group),
    total: rows[0]?.[totalColumn] ?? 0,
    hasMore: rows.length > plan.limit,
  }
}

export const countsAnswer = (
  { groups, total, hasMore }: Counts,
  { window }: CountsPlan,
  requestId: string,
) => ({
  counts: groups,
  total,
  meta: {
    start_ms: window.startMs,
    end_ms: window.endMs,
    has_more: hasMore,
    request_id: requestId,
  },
})

/** An hour or a day with events, and the number of each type. */
interface IndexEntry {
  /** In ClickHouse's format: 2026-01-31T12:00:00Z, or 2026-01-31 for a day. */
  start: string
  count: number
  event_types: Record<string, number>
}

/** Counts by interval and event_type as an index, earliest first. */
export function indexOf({ groups }: Counts, interval: string): IndexEntry[] {
  const entries = new Map<string, IndexEntry>()
  for (const { [interval]: at, event_type, count } of groups) {
    const start = String(at)
    const entry = entries.get(start) ?? { start, count: 0, event_types: {} }
    entry.count += count
    entry.event_types[String(event_type)] = count
    entries.set(start, entry)
  }
  return [...entries.values()].sort((a, b) => (a.start < b.start ? -1 : 1))
}

/** The column of countsQuery with the count of all groups together; it is the same in every row. */
const totalColumn = '_total'

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
