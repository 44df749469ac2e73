import type { Bind } from '../events/query/bind.ts'
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

/**
 * SQL of the columns of GoalCounts over rows of events, each with `_goal_events` and `_goal_value` of its
 * visitor. Each visitor counts once, however many of the events are theirs.
 */
export const visitorGoalColumns = `length(groupUniqArrayIf((cookie_id, _goal_events, _goal_value), _goal_events > 0) AS _reached) AS goal_visitors,
  arraySum(_reached.2) AS goal_events, toFloat64(arraySum(_reached.3)) AS goal_value`

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
