import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter.ts'
import { filterPredicate } from './filterPredicate.ts'

/** Counts for a goal: its events, and their distinct cookies. */
export interface GoalCounts {
  goal_events: number
  goal_visitors: number
}

/** Returns SQL of the columns of GoalCounts over rows of events; none without a goal. */
export const goalColumns = (
  goal: readonly Filter[] | null,
  organization: string,
  bind: Bind,
): readonly string[] =>
  goal
    ? [
        `countIf(${filterPredicate(goal, organization, bind)} AS _met) AS goal_events`,
        'uniqExactIf(cookie_id, _met) AS goal_visitors',
      ]
    : []

/** Returns SQL of these columns over rows of sessions, which have `_goal_events` and `_cookie_id`. */
export const sessionGoalColumns = (goal: readonly Filter[] | null): readonly string[] =>
  goal
    ? [
        'sum(_goal_events) AS goal_events',
        'uniqExactIf(_cookie_id, _goal_events > 0) AS goal_visitors',
      ]
    : []
