import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { type BreakdownRow, breakdownQuery } from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { conditionsOf, type Goal, type Revenue, revenueOf } from './goals.ts'

export type Breakdowns = Record<string, { values: Value[]; has_more: boolean }>

interface Value {
  value: string | null
  visitors: number
  events: number | null
  page_views: number | null
  sessions: number | null
  goal: { events: number; visitors: number; rate: number; revenue: Revenue | null } | null
}

interface Asked {
  /** Most values of each dimension. */
  readonly limit: number
  /** The goal whose conversions each value has. */
  readonly goal?: Goal | null
}

export async function readBreakdowns(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  dimensions: readonly string[],
  { limit, goal = null }: Asked,
): Promise<Breakdowns> {
  const rows = await queryExecutor.rows<BreakdownRow>(
    breakdownQuery(plan, dimensions, { limit, goal: goal && conditionsOf(goal) }),
  )
  return Object.fromEntries(
    dimensions.map((name) => {
      const values = rows.filter(({ dimension }) => dimension === name)
      return [
        name,
        {
          values: values.slice(0, limit).map((row) => shownValue(row, goal)),
          has_more: values.length > limit,
        },
      ]
    }),
  )
}

function shownValue(row: BreakdownRow, goal: Goal | null): Value {
  const { dimension: _, goal_events = 0, goal_visitors = 0, goal_value = 0, ...counts } = row
  return {
    ...counts,
    goal: goal && {
      events: goal_events,
      visitors: goal_visitors,
      rate: counts.visitors === 0 ? 0 : goal_visitors / counts.visitors,
      revenue: revenueOf(goal, goal_value),
    },
  }
}
