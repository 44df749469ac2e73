/** Periods that a user can choose, with their labels. Days are in UTC, as everywhere in the API. */
export const periods = {
  today: 'Today',
  yesterday: 'Yesterday',
  days7: 'Last 7 days',
  days30: 'Last 30 days',
  days90: 'Last 90 days',
  month: 'This month',
  lastMonth: 'Last month',
  days365: 'Last 365 days',
  custom: 'Custom…',
} as const
export type Period = keyof typeof periods

/** Days from the first to the last, both inclusive, YYYY-MM-DD. */
export interface Days {
  from: string
  to: string
}

/** Event times, epoch milliseconds: start inclusive, end exclusive, as the API takes them. */
interface Window {
  start_ms: number
  end_ms: number
}

const dayMs = 86_400_000

/** First and last day of a period: of `days7` the seven that end with today. */
export function daysOf(
  period: 'today' | 'yesterday' | 'month' | 'lastMonth' | `days${number}`,
  now = Date.now(),
): Days {
  const at = new Date(now)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (period) {
    case 'today':
      return days([year, month, day], [year, month, day])
    case 'yesterday':
      return days([year, month, day - 1], [year, month, day - 1])
    case 'month':
      return days([year, month, 1], [year, month, day])
    case 'lastMonth':
      return days([year, month - 1, 1], [year, month, 0])
    default:
      return days([year, month, day - Number(period.slice('days'.length)) + 1], [year, month, day])
  }
}

/** What of these days has been so far, to the minute: a day under way is compared with as much of another. */
export function windowOf({ from, to }: Days, now = Date.now()): Window {
  const endOfMinute = (Math.floor(now / 60_000) + 1) * 60_000
  const start_ms = Date.parse(from)
  return { start_ms, end_ms: Math.max(start_ms + 1, Math.min(Date.parse(to) + dayMs, endOfMinute)) }
}

type Ymd = [year: number, month: number, day: number]

/** Months and days beyond their range run over into the next ones, as Date has it. */
const days = (from: Ymd, to: Ymd): Days => ({ from: iso(from), to: iso(to) })

const iso = (parts: Ymd): string => new Date(Date.UTC(...parts)).toISOString().slice(0, 10)
