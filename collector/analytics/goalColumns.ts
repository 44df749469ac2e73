import type { Bind } from '../events/query/bind.ts'
import { filterPredicate } from './filterPredicate.ts'
import type { GoalConditions } from './goals.ts'

/** Counts for a goal: its events, their distinct cookies, and the sum of their values. */
export interface GoalCounts {
  goal_events: number
  goal_visitors: number
  goal_value: number
}

/** Returns SQL of the value of an event (a decimal), 0 without one. Decimals make sums exact. */
export const goalValue = ({ valuePath }: GoalConditions, bind: Bind): string =>
  valuePath
    ? `ifNull(JSONExtract(event_data, ${valuePath.map((name) => bind('String', name)).join(', ')}, 'Nullable(Decimal(18, 4))'), 0)`
    : 'toDecimal64(0, 4)'

/** Returns SQL of the sum of values (SQL). */
export const sumOfValues = (values: string): string => `toFloat64(sum(${values}))`

/** Returns SQL of the columns of GoalCounts over rows of events; none without a goal. */
export const goalColumns = (
  goal: GoalConditions | null,
  organization: string,
  bind: Bind,
): readonly string[] =>
  goal
    ? [
        `countIf(${filterPredicate(goal.filters, organization, bind)} AS _met) AS goal_events`,
        'uniqExactIf(cookie_id, _met) AS goal_visitors',
        `${sumOfValues(`if(_met, ${goalValue(goal, bind)}, 0)`)} AS goal_value`,
      ]
    : []

/**
 * Returns SQL of these columns over rows of sessions, which have `_goal_events`, `_goal_value` and
 * `_cookie_id`.
 */
export const sessionGoalColumns = (goal: GoalConditions | null): readonly string[] =>
  goal
    ? [
        'sum(_goal_events) AS goal_events',
        'uniqExactIf(_cookie_id, _goal_events > 0) AS goal_visitors',
        `${sumOfValues('_goal_value')} AS goal_value`,
      ]
    : []
