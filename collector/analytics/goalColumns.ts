import type { GoalConditions } from './goals.ts'
import type { EventValue } from './hits/hitFields.ts'

/** Counts for a goal: its events, their distinct cookies, and the sum of their values. */
export interface GoalCounts {
  goal_events: number
  goal_visitors: number
  goal_value: number
}

/** The values of events that a goal reads, for hitsWith: none or one. Decimals make sums exact. */
export const valuesOf = ({ valuePath }: GoalConditions): readonly EventValue[] =>
  valuePath ? [{ path: valuePath, type: 'Decimal(18, 4)' }] : []

/** Returns SQL of the sum of the values (SQL, if there are any) of rows that meet a condition. */
export const sumOfValues = (values: string | undefined, meets: string): string =>
  values === undefined ? '0' : `toFloat64(sumIf(ifNull(${values}, 0), ${meets}))`
