import { projectFor } from '../api/access/policy.ts'
import type { Principal } from '../api/access/principal.ts'
import { invalidParameter } from '../api/http/errors.ts'
import type { Filter } from '../events/query/filter.ts'
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
}

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

/** Returns the filters of a project's goal by name. Throws 400 for an unknown one. */
export async function readGoal(
  postgres: Postgres,
  principal: Principal,
  asked: string | undefined,
  name: string,
): Promise<readonly Filter[]> {
  const { projectId } = await projectFor(postgres, principal, 'events', asked, 'read')
  const { goals } = await readGoals(postgres, projectId)
  const found = goals.find((goal) => goal.name === name)
  if (found) return readFreeFilters('goal', found.filter)
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
