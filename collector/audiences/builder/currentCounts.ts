import type { Bind } from '../../events/query/bind.ts'
import { leavesOf } from '../definition/definition.ts'
import { type CountsScan, eventCountsSelect } from './eventCountsQuery.ts'
import { isOfEventsAlone } from './leafDays.ts'
import { cookiesWhere, hemCondition, type MembersPlan } from './membersPlan.ts'

export interface CurrentPlan extends Omit<MembersPlan, 'eventCounts'> {
  readonly projectId: string
  /** Events before this time count, epoch milliseconds. */
  readonly asOfMs: number
}

/** Returns SQL that counts event leaves for one use: only the cookies of people in the plan. */
export function currentCounts(plan: CurrentPlan, bind: Bind): string {
  const { parsed, leafIds, organizationId, projectId, today, asOfMs } = plan
  const leaves = leavesOf(parsed, 'event').map(
    ({ index, leaf }) => [leafIds.get(index)!, leaf] as const,
  )
  const together = leaves.filter(([, leaf]) => isOfEventsAlone(leaf))
  const alone = leaves.filter(([, leaf]) => !isOfEventsAlone(leaf))
  const ofSome = parsed.entity === 'people' ? hemCondition(plan, bind) : null
  const cookies = ofSome ? cookiesWhere(organizationId, ofSome, bind) : undefined
  const scanOf = (some: typeof leaves): CountsScan => {
    const back = Math.max(...some.map(([, { withinDays }]) => withinDays))
    const days = Array.from({ length: back + 1 }, (_, index) => today - back + index)
    return { organizationId, projectId, asOfMs, days, cookies, leaves: new Map(some) }
  }
  // Leaves with one id count the same events, so one scan counts them for all: two would count each event twice.
  const ids = [...new Set(alone.map(([leafId]) => leafId))]
  const ofOneId = ids.map((id) => alone.filter(([leafId]) => leafId === id))
  const scans = [...(together.length > 0 ? [together] : []), ...ofOneId]
  return scans.map((some) => eventCountsSelect(scanOf(some), bind)).join('\nUNION ALL\n')
}
