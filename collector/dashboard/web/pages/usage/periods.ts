import type { UsageQuery } from '../../api.ts'
import { daysOf } from '../../view/periods.ts'

/** Periods that a user can choose, with their labels. */
export const periods = {
  month: 'This month',
  lastMonth: 'Last month',
  days30: 'Last 30 days',
  days90: 'Last 90 days',
  days366: 'Last 366 days',
} as const
export type Period = keyof typeof periods

type Days = Pick<UsageQuery, 'start_date' | 'end_date'>

/** Returns the first and last day of a period in UTC, like bills. */
export function spanOf(period: Period): Days {
  const { from, to } = daysOf(period)
  return { start_date: from, end_date: to }
}

/** Returns every day of a span, including those without usage. */
export function eachDay({ start_date, end_date }: Days): string[] {
  const all: string[] = []
  for (let at = Date.parse(start_date); at <= Date.parse(end_date); at += 86_400_000)
    all.push(new Date(at).toISOString().slice(0, 10))
  return all
}
