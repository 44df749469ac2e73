import { bindings } from '../../events/query/bind.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import { type CurrentPlan, currentCounts } from '../builder/currentCounts.ts'
import { membersSelect } from '../builder/membersQuery.ts'
import { leavesOf } from '../definition/definition.ts'
import { freeRowsMax } from './mask.ts'

/** A sample: the plan of a build, without stored counts, with the database of its events. */
interface SamplePlan extends CurrentPlan {
  /** Orders the members, of whom the first are the sample. */
  readonly salt: string
}

/** Returns the query of the members that a build would have: their `count`, and the first `members`, hems or domains. */
export function sampleQuery(plan: SamplePlan): Query {
  const { bind, params } = bindings()
  const hasEvents = leavesOf(plan.parsed, 'event').length > 0
  const text =
    plan.parsed.entity === 'people' ? 'lower(hex(reinterpretAsFixedString(member)))' : 'member'
  return {
    sql: `SELECT count() AS count, groupArraySorted(${freeRowsMax})((sipHash64(member, ${bind('String', plan.salt)}) AS place, ${text} AS id)::Tuple(place UInt64, id String)).id AS members
FROM (
${membersSelect({ ...plan, eventCounts: hasEvents ? (bind) => currentCounts(plan, bind) : null }, bind)}
)`,
    params,
  }
}

/** Returns the day of `nowMs`, since 1970 (UTC). */
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs)
