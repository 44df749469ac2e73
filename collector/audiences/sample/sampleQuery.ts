import { bindings } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/suppressedPeople.ts'
import { dayMs } from '../../events/query/window.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { type CurrentPlan, currentCounts } from '../builder/currentCounts.ts'
import { matchingSelect } from '../builder/membersQuery.ts'
import { leavesOf } from '../definition/leaves.ts'

/** A sample: the plan without stored counts, with the database of its events. */
export interface SamplePlan extends CurrentPlan {
  /** Most visible members. */
  readonly rows: number
  /** A member is visible only if at least this many members, including it, match the same leaves. */
  readonly alikeMin: number
  /** People who count but are not visible, and the salt for the order of the others. */
  readonly unseen: { readonly erased: readonly string[]; readonly salt: string }
}

/**
 * The number of members in the sample (`count`), and some of them that may be shown (`members`, hems or
 * domains), sorted by a hash. People whom a definition distinguishes count but are not shown.
 */
export function sampleQuery(plan: SamplePlan): Query {
  const { bind, params } = bindings()
  const hasEvents = leavesOf(plan.parsed, 'event').length > 0
  const members = matchingSelect(
    { ...plan, eventCounts: hasEvents ? (bind) => currentCounts(plan, bind) : null },
    bind,
  )
  const { unseen, organizationId } = plan
  const isShown =
    plan.parsed.entity === 'people'
      ? `NOT ${isSuppressed('member', suppressedPeople(organizationId, unseen.erased, bind))}`
      : 'true'
  const text =
    plan.parsed.entity === 'people' ? 'lower(hex(reinterpretAsFixedString(member)))' : 'member'
  return {
    sql: `SELECT sum(alike) AS count,
  arrayMap(one -> one.2, arraySlice(arraySort(arrayFlatten(groupArrayIf(first, alike >= ${plan.alikeMin}))), 1, ${plan.rows})) AS members
FROM (
SELECT count() AS alike, groupArraySortedIf(${plan.rows})((sipHash64(member, ${bind('String', unseen.salt)}), ${text}), ${isShown}) AS first FROM (
${members}
)
GROUP BY met
)`,
    params,
  }
}

/** Returns the day of `nowMs`, since 1970 (UTC). */
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs)
