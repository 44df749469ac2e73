import type { Query } from '../../platform/clickhouse/client.ts'
import { type Bind, bindings } from '../../query/where.ts'
import { dayMs } from '../../query/window.ts'
import { type CountsScan, eventCountsSelect } from '../build/eventCountsQuery.ts'
import { leavesOf, type MembersPlan, membersSelect } from '../build/membersQuery.ts'
import { isOfEventsAlone } from '../build/plan.ts'

/** A sample: the plan without counts, which nobody has made, and where the events are. */
export interface SamplePlan extends Omit<MembersPlan, 'eventCounts'> {
  readonly projectId: string
  readonly asOfMs: number
  /** Most members that are named. */
  readonly rows: number
}

/** How many members there are in the sample (`count`), and the first of them (`members`, hems or domains). */
export function sampleQuery(plan: SamplePlan): Query {
  const { bind, params } = bindings()
  const hasEvents = leavesOf(plan.parsed, 'event').length > 0
  const members = membersSelect(
    { ...plan, eventCounts: hasEvents ? (bind) => countsSelect(plan, bind) : null },
    bind,
  )
  const text = plan.parsed.entity === 'people' ? 'lower(hex(reinterpretAsFixedString(member)))' : 'member'
  return {
    sql: `SELECT count() AS count, groupArray(${plan.rows})(${text}) AS members FROM (\n${members}\n)`,
    params,
  }
}

/** The counts of event leaves, made for this once: of the cookies alone that are known to be somebody's in the sample. */
function countsSelect(
  { parsed, leafIds, organizationId, projectId, today, asOfMs, below }: SamplePlan,
  bind: Bind,
): string {
  const leaves = leavesOf(parsed, 'event').map(({ index, leaf }) => [leafIds.get(index)!, leaf] as const)
  const together = leaves.filter(([, leaf]) => isOfEventsAlone(leaf))
  const alone = leaves.filter(([, leaf]) => !isOfEventsAlone(leaf))
  const cookies =
    below === null || parsed.entity !== 'people'
      ? undefined
      : `SELECT cookie_id FROM identity_links WHERE organization_id IN (${bind('UUID', organizationId)}, toUUID('00000000-0000-0000-0000-000000000000')) AND hem < ${bind('String', below.toString(16).padStart(4, '0'))}`
  const scanOf = (some: typeof leaves): CountsScan => {
    const back = Math.max(...some.map(([, { withinDays }]) => withinDays))
    const days = Array.from({ length: back + 1 }, (_, index) => today - back + index)
    return { ...{ organizationId, projectId, asOfMs, days, cookies }, leaves: new Map(some) }
  }
  const scans = [...(together.length > 0 ? [together] : []), ...alone.map((leaf) => [leaf])]
  return scans.map((some) => eventCountsSelect(scanOf(some), bind)).join('\nUNION ALL\n')
}

/** The day that `nowMs` is in, since 1970 (UTC). */
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs)
