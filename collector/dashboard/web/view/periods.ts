import { type TimeZone, utc } from '../../../platform/timeZone.ts'
import type { Days } from '../charts/daysWithin.ts'

export type { Days }

/** The names of the periods that a reader can choose. Days are local to a time zone. */
export const periods = {
  today: 'Today',
  yesterday: 'Yesterday',
  days7: 'Last 7 days',
  days30: 'Last 30 days',
  days90: 'Last 90 days',
  month: 'This month',
  lastMonth: 'Last month',
  year: 'This year',
  days365: 'Last 365 days',
  custom: 'Custom…',
} as const
export type Period = keyof typeof periods

/** Event times, epoch milliseconds: start inclusive, end exclusive, like the API's. */
export interface Window {
  start_ms: number
  end_ms: number
}

const dayMs = 86_400_000

/** Returns the first and last day of a period: `days7` are the last seven days, including today. */
export function daysOf(
  period: 'today' | 'yesterday' | 'month' | 'lastMonth' | 'year' | `days${number}`,
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
    case 'year':
      return days([year, 0, 1], [year, month, day])
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
  const today = iso(ymdOf(now, zone))
  const months = monthsIn({ from, to }, today)
  const next = months
    ? monthsFrom(from, direction * months, months, today)
    : movedBy({ from, to }, direction * ((Date.parse(to) - Date.parse(from)) / dayMs + 1))
  if (next.from > today) return null
  const named = Object.keys(periods).find((period): period is Exclude<Period, 'custom'> => {
    if (period === 'custom') return false
    const found = daysOf(period as Exclude<Period, 'custom'>, now, zone)
    return found.from === next.from && found.to === next.to
  })
  return { period: named ?? 'custom', days: next }
}

/** The number of months if these days are a calendar month or year, or as much of it as has been. */
function monthsIn({ from, to }: Days, today: string): number | undefined {
  const [year, month, day] = ymdOf(Date.parse(from))
  return [1, 12].find((count) => {
    const end = iso([year, month + count, 0])
    const isSoFar = to === today && from < to && to < end
    return day === 1 && month % count === 0 && (to === end || isSoFar)
  })
}

/** As many calendar months, `moved` months later, until today. */
function monthsFrom(from: string, moved: number, count: number, today: string): Days {
  const [year, month] = ymdOf(Date.parse(from))
  const next = days([year, month + moved, 1], [year, month + moved + count, 0])
  return next.to < today ? next : { ...next, to: today }
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
