import type { Principal } from '../api/access/principal.ts'
import { objectProject } from '../api/access/projectObjects.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { type Filter, pathIntoEventData } from '../events/query/filter/filter.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { type VersionedList, versionedLists } from '../platform/postgres/versionedList.ts'
import { readEventFilters } from './figuresRequest.ts'
import type { EventValue } from './hits/hitFields.ts'

export const goalsMax = 20

/** A goal of visitors: an event that matches the filter. */
export interface Goal {
  name: string
  /** field:op:value, in the syntax of the parameter `filter`. */
  filter: string
  value?: GoalValue
}

/** Revenue: the number at a path into event_data, in a currency (ISO 4217). */
interface GoalValue {
  property: string
  currency: string
}

/** The sum of a goal's values; null for goals without values. */
export interface Revenue {
  value: number
  currency: string
}

export const revenueOf = ({ value }: Goal, sum: number): Revenue | null =>
  value ? { value: sum, currency: value.currency } : null

/** A goal as queries need it. */
export interface GoalConditions {
  readonly filters: readonly Filter[]
  /** The path into event_data of the value; null without one. */
  readonly valuePath: readonly string[] | null
}

export const conditionsOf = ({ filter, value }: Goal): GoalConditions => ({
  filters: readEventFilters('filter', filter),
  valuePath: (value && pathIntoEventData(value.property)) ?? null,
})

export type Goals = VersionedList<'goals', Goal>

export const { read: readGoals, replace: replaceGoals } = versionedLists<'goals', Goal>(
  'analytics_goals',
  {
    owner: 'project_id',
    list: 'goals',
  },
)

/** Reads a project's goal by name. Throws 400 for an unknown one. */
export async function readGoal(
  postgres: Postgres,
  principal: Principal,
  asked: string | undefined,
  name: string,
): Promise<Goal> {
  const projectId = await objectProject(postgres, principal, asked, 'read')
  const { goals } = await readGoals(postgres, projectId)
  const found = goals.find((goal) => goal.name === name)
  if (found) return found
  const known = goals.map((goal) => `"${goal.name}"`).join(', ') || 'none'
  throw invalidParameter('goal', `must be the name of a goal of the project: ${known}`)
}

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
