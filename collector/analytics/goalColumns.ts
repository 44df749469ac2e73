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

/** The columns of rows of sessions with the number of events that reach a goal (its index), and their values. */
export const goalEvents = (index: number): string => `_goal_events_${index}`
export const goalSum = (index: number): string => `_goal_value_${index}`

/**
 * Returns SQL of these columns over rows of sessions, which have those of the goal. `visitorsIf` is SQL of the number of
 * visitors in rows that meet a condition.
 */
export const sessionGoalColumns = (
  goal: GoalConditions | null,
  visitorsIf = (condition: string) => `uniqExactIf(_cookie_id, ${condition})`,
): readonly string[] =>
  goal
    ? [
        `sum(${goalEvents(0)}) AS goal_events`,
        `${visitorsIf(`${goalEvents(0)} > 0`)} AS goal_visitors`,
        `${sumOfValues(goalSum(0))} AS goal_value`,
      ]
    : []
