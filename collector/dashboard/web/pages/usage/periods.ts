import type { UsageQuery } from '../../api.ts'

/** The spans of days a reader can choose, and what they are called. */
export const periods = {
  month: 'This month',
  lastMonth: 'Last month',
  days30: 'Last 30 days',
  days90: 'Last 90 days',
  days366: 'Last 366 days',
} as const
export type Period = keyof typeof periods

type Days = Pick<UsageQuery, 'start_date' | 'end_date'>

/** First and last day of a period, in UTC, as bills have them. */
export function daysOf(period: Period, now = new Date()): Days {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  switch (period) {
    case 'month':
      return days([year, month, 1], [year, month, day])
    case 'lastMonth':
      return days([year, month - 1, 1], [year, month, 0])
    default:
      return days([year, month, day - Number(period.slice('days'.length)) + 1], [year, month, day])
  }
}

/** Every day of a span, those without usage too. */
export function eachDay({ start_date, end_date }: Days): string[] {
  const all: string[] = []
  for (let at = Date.parse(start_date); at <= Date.parse(end_date); at += 86_400_000)
    all.push(new Date(at).toISOString().slice(0, 10))
  return all
}

type Ymd = [year: number, month: number, day: number]

/** Months and days beyond their range run over into the next ones, as Date has it. */
const days = (start: Ymd, end: Ymd): Days => ({ start_date: iso(start), end_date: iso(end) })

const iso = (parts: Ymd): string => new Date(Date.UTC(...parts)).toISOString().slice(0, 10)
