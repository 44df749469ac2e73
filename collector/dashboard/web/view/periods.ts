import { type TimeZone, utc } from '../../../platform/timeZone.ts'

/** The names of the periods that a reader can choose. Days are local to a time zone. */
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
  zone: TimeZone = utc,
): Days {
  const [year, month, day] = ymdOf(now, zone)
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

/** The part of these days that has passed, to the minute: a day under way is compared with the same part of another. */
export function windowOf(days: Days, now = Date.now(), zone: TimeZone = utc): Window {
  const endOfMinute = (Math.floor(now / 60_000) + 1) * 60_000
  const { start_ms, end_ms } = wholeOf(days, zone)
  return { start_ms, end_ms: Math.max(start_ms + 1, Math.min(end_ms, endOfMinute)) }
}

/** These days from their first moment to their last, also those that are still to come. */
export const wholeOf = ({ from, to }: Days, zone: TimeZone = utc): Window => ({
  start_ms: zone.instantOf(Date.parse(from)),
  end_ms: zone.instantOf(Date.parse(to) + dayMs),
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
  zone: TimeZone = utc,
): Window | null {
  const [start, end] = [start_ms, end_ms].map((ms) => ms + zone.offsetAt(ms)) as [number, number]
  const localWindow = (start: number, end: number): Window => ({
    start_ms: zone.instantOf(start),
    end_ms: zone.instantOf(end),
  })
  switch (comparison) {
    case 'previous': {
      // Full days, so that each time of day is compared with the same one.
      const backMs = Math.ceil((end - start) / dayMs) * dayMs
      return localWindow(start - backMs, end - backMs)
    }
    case 'year': {
      const [year, month, day] = ymdOf(start)
      const earlier = Date.UTC(year - 1, month, day)
      return localWindow(earlier, earlier + end - start)
    }
    case 'custom':
      return custom ? windowOf(custom, now, zone) : null
    default:
      return null
  }
}

/** Returns the period of equal length before this one (-1) or after it (1); null if it is in the future. */
export function neighbourOf(
  { from, to }: Days,
  direction: -1 | 1,
  now = Date.now(),
  zone: TimeZone = utc,
): { period: Period; days: Days } | null {
  const next = isMonth({ from, to }, now, zone)
    ? monthFrom(from, direction, now, zone)
    : movedBy({ from, to }, direction * ((Date.parse(to) - Date.parse(from)) / dayMs + 1))
  if (next.from > iso(ymdOf(now, zone))) return null
  const named = Object.keys(periods).find((period): period is Exclude<Period, 'custom'> => {
    if (period === 'custom') return false
    const found = daysOf(period as Exclude<Period, 'custom'>, now, zone)
    return found.from === next.from && found.to === next.to
  })
  return { period: named ?? 'custom', days: next }
}

/** Whether these days are a calendar month, or as much of it as has been. */
function isMonth({ from, to }: Days, now: number, zone: TimeZone): boolean {
  const [year, month] = ymdOf(Date.parse(from))
  const isWhole = to === iso([year, month + 1, 0])
  const isSoFar = to === iso(ymdOf(now, zone)) && to.slice(0, 7) === from.slice(0, 7)
  return from.endsWith('-01') && (isWhole || (isSoFar && to !== from))
}

function monthFrom(from: string, direction: -1 | 1, now: number, zone: TimeZone): Days {
  const [year, month] = ymdOf(Date.parse(from))
  const whole = days([year, month + direction, 1], [year, month + direction + 1, 0])
  const thisMonth = daysOf('month', now, zone)
  return whole.from === thisMonth.from ? thisMonth : whole
}

function movedBy({ from, to }: Days, count: number): Days {
  const moved = (day: string) =>
    new Date(Date.parse(day) + count * dayMs).toISOString().slice(0, 10)
  return { from: moved(from), to: moved(to) }
}

type Ymd = [year: number, month: number, day: number]

function ymdOf(millis: number, zone: TimeZone = utc): Ymd {
  const at = new Date(millis + zone.offsetAt(millis))
  return [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
}

/** Months and days out of range roll over, as in Date. */
const days = (from: Ymd, to: Ymd): Days => ({ from: iso(from), to: iso(to) })

const iso = (parts: Ymd): string => new Date(Date.UTC(...parts)).toISOString().slice(0, 10)
