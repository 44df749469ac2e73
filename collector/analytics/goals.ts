import { projectFor } from '../api/access/policy.ts'
import type { Principal } from '../api/access/principal.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { type Filter, pathIntoEventData } from '../events/query/filter.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'

import { readFreeFilters } from './figuresRequest.ts'

/** Most goals of a project. */
export const goalsMax = 20

/** A goal of visitors: an event that matches the filter. */
export interface Goal {
  name: string
  /** field:op:value, in the syntax of the parameter `filter`. */
  filter: string
  /** The value of each of its events. */
  value?: GoalValue
}

/** Revenue: the number at a path into event_data, in a currency (ISO 4217). */
export interface GoalValue {
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
  filters: readFreeFilters('filter', filter),
  valuePath: (value && pathIntoEventData(value.property)) ?? null,
})

/** A project's goals. */
export interface Goals {
  goals: Goal[]
  /** 0 if the project never had goals. */
  version: number
  updated_at: Date | null
}

export async function readGoals(client: Queryable, projectId: string): Promise<Goals> {
  const { rows } = await client.query<Goals>(
    'SELECT goals, version, updated_at FROM analytics_goals WHERE project_id = $1',
    [projectId],
  )
  return rows[0] ?? { goals: [], version: 0, updated_at: null }
}

/** Reads a project's goal by name. Throws 400 for an unknown one. */
export async function readGoal(
  postgres: Postgres,
  principal: Principal,
  asked: string | undefined,
  name: string,
): Promise<Goal> {
  const { projectId } = await projectFor(postgres, principal, 'events', asked, 'read')
  const { goals } = await readGoals(postgres, projectId)
  const found = goals.find((goal) => goal.name === name)
  if (found) return found
  const known = goals.map((goal) => `"${goal.name}"`).join(', ') || 'none'
  throw invalidParameter('goal', `must be the name of a goal of the project: ${known}`)
}

/** Replaces a project's goals, and returns them. */
export async function replaceGoals(
  client: Queryable,
  projectId: string,
  goals: readonly Goal[],
): Promise<Goals> {
  const { rows } = await client.query<Goals>(
    `INSERT INTO analytics_goals (project_id, goals) VALUES ($1, $2)
     ON CONFLICT (project_id)
       DO UPDATE SET goals = excluded.goals, version = analytics_goals.version + 1, updated_at = now()
     RETURNING goals, version, updated_at`,
    [projectId, JSON.stringify(goals)],
  )
  return rows[0]!
}
