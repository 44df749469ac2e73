import type { QueryExecutor } from '../../../api/access/queryExecutor.ts'
import { nameProjects } from '../projects.ts'
import type { CountsPlan } from './countsPlan.ts'
import { countsQuery, totalColumn } from './countsQuery.ts'

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
export interface IndexEntry {
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
