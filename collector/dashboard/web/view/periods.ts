/** The names of the periods that users can select. Days are in UTC. */
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

/** Event times, epoch milliseconds: start inclusive, end exclusive, like the API's. */
export interface Window {
  start_ms: number
  end_ms: number
}

const dayMs = 86_400_000

/** Returns the first and last day of a period: `days7` are the last seven days, including today. */
export function daysOf(
  period: 'today' | 'yesterday' | 'month' | 'lastMonth' | `days${number}`,
  now = Date.now(),
): Days {
  const [year, month, day] = ymdOf(now)
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

/**
 * Returns the past part of these days, to the minute, so that the current day is compared with the same part
 * of another day.
 */
export function windowOf({ from, to }: Days, now = Date.now()): Window {
  const endOfMinute = (Math.floor(now / 60_000) + 1) * 60_000
  const start_ms = Date.parse(from)
  return { start_ms, end_ms: Math.max(start_ms + 1, Math.min(Date.parse(to) + dayMs, endOfMinute)) }
}

/** Returns these days from their first moment to their last, including future times. */
export const wholeOf = ({ from, to }: Days): Window => ({
  start_ms: Date.parse(from),
  end_ms: Date.parse(to) + dayMs,
})

/** The names of the comparisons. */
export const comparisons = {
  previous: 'Previous period',
  year: 'Same period last year',
  custom: 'Custom comparison…',
  off: 'No comparison',
} as const
export type Comparison = keyof typeof comparisons

/** Returns the window to compare with; null without a comparison. */
export function comparedWindow(
  { start_ms, end_ms }: Window,
  comparison: Comparison,
  custom: Days | undefined,
  now = Date.now(),
): Window | null {
  switch (comparison) {
    case 'previous': {
      // Full days, so that each time of day is compared with the same one.
      const backMs = Math.ceil((end_ms - start_ms) / dayMs) * dayMs
      return { start_ms: start_ms - backMs, end_ms: end_ms - backMs }
    }
    case 'year': {
      const [year, month, day] = ymdOf(start_ms)
      const start = Date.UTC(year - 1, month, day)
      return { start_ms: start, end_ms: start + end_ms - start_ms }
    }
    case 'custom':
      return custom ? windowOf(custom, now) : null
    default:
      return null
  }
}

/** Returns the period of equal length before this one (-1) or after it (1); null if it is in the future. */
export function neighbourOf(
  { from, to }: Days,
  direction: -1 | 1,
  now = Date.now(),
): { period: Period; days: Days } | null {
  const next = isMonth({ from, to }, now)
    ? monthFrom(from, direction, now)
    : movedBy({ from, to }, direction * ((Date.parse(to) - Date.parse(from)) / dayMs + 1))
  if (Date.parse(next.from) > now) return null
  const named = Object.keys(periods).find((period): period is Exclude<Period, 'custom'> => {
    if (period === 'custom') return false
    const found = daysOf(period as Exclude<Period, 'custom'>, now)
    return found.from === next.from && found.to === next.to
  })
  return { period: named ?? 'custom', days: next }
}

/** Whether these days are a calendar month, or the past part of one. */
function isMonth({ from, to }: Days, now: number): boolean {
  const [year, month] = ymdOf(Date.parse(from))
  const isWhole = to === iso([year, month + 1, 0])
  const isSoFar = to === iso(ymdOf(now)) && to.slice(0, 7) === from.slice(0, 7)
  return from.endsWith('-01') && (isWhole || (isSoFar && to !== from))
}

function monthFrom(from: string, direction: -1 | 1, now: number): Days {
  const [year, month] = ymdOf(Date.parse(from))
  const whole = days([year, month + direction, 1], [year, month + direction + 1, 0])
  const thisMonth = daysOf('month', now)
  return whole.from === thisMonth.from ? thisMonth : whole
}

function movedBy({ from, to }: Days, count: number): Days {
  const moved = (day: string) =>
    new Date(Date.parse(day) + count * dayMs).toISOString().slice(0, 10)
  return { from: moved(from), to: moved(to) }
}

type Ymd = [year: number, month: number, day: number]

function ymdOf(millis: number): Ymd {
  const at = new Date(millis)
  return [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
}

/** Months and days out of range roll over, as in Date. */
const days = (from: Ymd, to: Ymd): Days => ({ from: iso(from), to: iso(to) })

const iso = (parts: Ymd): string => new Date(Date.UTC(...parts)).toISOString().slice(0, 10)
