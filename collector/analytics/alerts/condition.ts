import { type Static, Type } from 'typebox'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Choice, Name, strictObject } from '../../api/http/commonSchemas.ts'
import { EventFilterText } from '../../events/query/filter/filter.ts'
import { daysEarlier } from '../../events/query/window/window.ts'
import { hourMs } from '../../platform/days.ts'
import type { TimeZone } from '../../platform/timeZone.ts'
import { type AnalyticsPlan, readEventFilters } from '../figuresRequest.ts'
import type { Goal } from '../goals.ts'
import { type Totals, totalsQuery } from '../totalsQuery.ts'

const windowMs = { hour: hourMs, day: 24 * hourMs } as const
/** The weeks whose same hours determine the usual value, and how many of them need events. */
const [weeksBefore, weeksNeeded] = [4, 2]
/** A project without events for this time counts as unused, not as silent. */
const silenceAfterDays = 7

const members = {
  kind: Choice(['threshold', 'change', 'silence', 'goal'], {
    description:
      '`threshold`: the metric of the window is above or below `value`. `change`: it differs from the usual value by at least `value` percent. The usual value is the mean of the same window in the four weeks before, at the same local time of the project. `silence`: no events in the window. `goal`: at least `value` visitors reached `goal`.',
  }),
  metric: Choice(['visitors', 'page_views', 'events'], {
    default: 'events',
    description: 'The figure that `threshold` and `change` compare, without bots.',
  }),
  window: Choice(['hour', 'day'], {
    description: 'The period before each check: 60 minutes or 24 hours.',
  }),
  direction: Choice(['above', 'below', 'either'], {
    default: 'above',
    description: 'The side of `value` that raises the alert. `either` is for `change` only.',
  }),
  value: Type.Number({
    minimum: 0,
    maximum: 1e12,
    default: 1,
    description: 'A number; for `change` a percentage.',
  }),
  filter: Type.Optional(
    Type.Unsafe<string>({ ...EventFilterText, minLength: 1, maxLength: 2_000 }),
  ),
  goal: Type.Optional({ ...Name, description: 'The name of a goal of the project.' }),
}

export const Condition = strictObject(members, { title: 'AlertCondition' })
export type Condition = Static<typeof Condition>

/** A condition in a request: members with a default may be absent. */
export const ConditionInput = strictObject({
  ...members,
  metric: Type.Optional(members.metric),
  direction: Type.Optional(members.direction),
  value: Type.Optional(members.value),
})

/** Adds the defaults. */
export const completeCondition = (given: Static<typeof ConditionInput>): Condition => ({
  metric: 'events',
  direction: 'above',
  value: 1,
  ...given,
})

export interface Measurement {
  isRaised: boolean
  /** The figure of the window. */
  value: number
  /** The value for comparison, for `change`. */
  usual?: number
}

export function conditionFault(
  { kind, direction, goal, filter }: Condition,
  goals: readonly Goal[],
): [member: string, message: string] | undefined {
  if (direction === 'either' && kind !== 'change')
    return ['direction', 'must be above or below; either is for the kind change']
  if ((kind === 'goal') !== (goal !== undefined))
    return ['goal', kind === 'goal' ? 'is required for the kind goal' : 'is for the kind goal only']
  if (goal !== undefined && !goals.some(({ name }) => name === goal))
    return ['goal', 'must be the name of a goal of the project']
  if (goal !== undefined && filter !== undefined)
    return ['filter', 'must not be sent with a goal, which has a filter itself']
}

/**
 * Measures the window that ends at `endMs`. Earlier windows end at the same local time of this zone. Null if a comparison is impossible: the project is too new or
 * unused, or the goal was deleted.
 */
export async function measure(
  queryExecutor: QueryExecutor,
  scope: { organizationId: string; projectId: string },
  condition: Condition,
  goals: readonly Goal[],
  { endMs, zone }: { endMs: number; zone: TimeZone },
): Promise<Measurement | null> {
  const { kind, metric, window, value } = condition
  const goal = goals.find(({ name }) => name === condition.goal)
  if (kind === 'goal' && !goal) return null
  const filters = readEventFilters('filter', goal?.filter ?? condition.filter)
  const read = async (startMs: number, endMs: number): Promise<Totals> => {
    const plan: AnalyticsPlan = {
      source: 'pixel',
      window: { startMs, endMs },
      filters,
      bots: 'excluded',
      zone,
      scope: { ...scope, pixelId: null, campaignId: null },
    }
    const [totals] = await queryExecutor.rows<Totals>(totalsQuery(plan))
    return {
      events: Number(totals!.events),
      visitors: Number(totals!.visitors),
      page_views: Number(totals!.page_views),
    }
  }
  const length = windowMs[window]
  const now = await read(endMs - length, endMs)
  if (kind === 'goal') return { isRaised: now.visitors >= value, value: now.visitors }
  if (kind === 'threshold')
    return { isRaised: isBeyond(now[metric], value, condition.direction), value: now[metric] }
  if (kind === 'silence') {
    if (now.events > 0) return { isRaised: false, value: now.events }
    const before = await read(endMs - silenceAfterDays * 24 * hourMs, endMs - length)
    return before.events > 0 ? { isRaised: true, value: 0 } : null
  }
  const earlier = await Promise.all(
    Array.from({ length: weeksBefore }, (_, week) => {
      const end = daysEarlier(endMs, 7 * (week + 1), zone)
      return read(end - length, end)
    }),
  )
  const used = earlier.filter(({ events }) => events > 0)
  if (used.length < weeksNeeded) return null
  const usual = used.reduce((sum, totals) => sum + totals[metric], 0) / used.length
  if (usual === 0) return null
  const percent = ((now[metric] - usual) / usual) * 100
  const isRaised =
    condition.direction === 'either'
      ? Math.abs(percent) >= value
      : condition.direction === 'above'
        ? percent >= value
        : percent <= -value
  return { isRaised, value: now[metric], usual }
}

const isBeyond = (actual: number, value: number, direction: Condition['direction']): boolean =>
  direction === 'below' ? actual < value : actual > value
