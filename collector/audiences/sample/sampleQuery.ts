import type { Query } from '../../platform/clickhouse/client.ts'
import { bindings } from '../../query/where.ts'
import { dayMs } from '../../query/window.ts'
import { type CurrentPlan, currentCounts } from '../build/currentCounts.ts'
import { leavesOf, membersSelect } from '../build/membersQuery.ts'

/** A sample: the plan without counts, which nobody has made, and where the events are. */
export interface SamplePlan extends CurrentPlan {
  /** Most members that are named. */
  readonly rows: number
}

/** How many members there are in the sample (`count`), and the first of them (`members`, hems or domains). */
export function sampleQuery(plan: SamplePlan): Query {
  const { bind, params } = bindings()
  const hasEvents = leavesOf(plan.parsed, 'event').length > 0
  const members = membersSelect(
    { ...plan, eventCounts: hasEvents ? (bind) => currentCounts(plan, bind) : null },
    bind,
  )
  const text = plan.parsed.entity === 'people' ? 'lower(hex(reinterpretAsFixedString(member)))' : 'member'
  return {
    sql: `SELECT count() AS count, groupArray(${plan.rows})(${text}) AS members FROM (\n${members}\n)`,
    params,
  }
}

/** The day that `nowMs` is in, since 1970 (UTC). */
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs)
