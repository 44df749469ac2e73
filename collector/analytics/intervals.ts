import type { Bind } from '../events/query/bind.ts'
import type { Window } from '../events/query/window/window.ts'
import { dayMs, hourMs } from '../platform/days.ts'
import type { TimeZone } from '../platform/timeZone.ts'

/** The length of the intervals of cohorts, and of each point of a series. All begin in local time, weeks on Mondays. */
export const cohortIntervals = ['hour', 'day', 'week', 'month'] as const
export const intervals = ['minute', ...cohortIntervals] as const
export type Interval = (typeof intervals)[number]
/** Intervals of days. Shorter ones have a fixed length where clocks change. */
type LocalInterval = Exclude<Interval, 'minute' | 'hour'>

export const isWithinDay = (interval: Interval): interval is 'minute' | 'hour' =>
  interval === 'minute' || interval === 'hour'

const minuteMs = 60_000
/** 1 January 1970 was a Thursday. */
const mondayMs = 3 * dayMs

/** The local time at which the interval of a local time begins. */
function localStart(interval: Interval, localMs: number): number {
  const floor = (lengthMs: number, offsetMs = 0) =>
    Math.floor((localMs + offsetMs) / lengthMs) * lengthMs - offsetMs
  switch (interval) {
    case 'minute':
      return floor(minuteMs)
    case 'hour':
      return floor(hourMs)
    case 'day':
      return floor(dayMs)
    case 'week':
      return floor(7 * dayMs, mondayMs)
    case 'month': {
      const at = new Date(localMs)
      return Date.UTC(at.getUTCFullYear(), at.getUTCMonth())
    }
  }
}

/** The local time at which the interval after a local start begins. */
function nextLocalStart(interval: LocalInterval, localMs: number): number {
  const days = { day: 1, week: 7, month: 31 }[interval]
  return localStart(interval, localMs + days * dayMs)
}

/** The time at which the interval of a time begins, epoch milliseconds. */
function startOf(interval: Interval, ms: number, zone: TimeZone): number {
  const localMs = ms + zone.offsetAt(ms)
  const start = localStart(interval, localMs)
  // An hour that clocks show twice has two starts.
  return isWithinDay(interval) ? ms - (localMs - start) : zone.instantOf(start)
}

/** The start of the interval after the one that begins at a time. */
function next(interval: Interval, start: number, zone: TimeZone): number {
  if (interval === 'minute') return start + minuteMs
  if (interval !== 'hour')
    return zone.instantOf(
      nextLocalStart(interval, localStart(interval, start + zone.offsetAt(start))),
    )
  const following = startOf('hour', start + hourMs, zone)
  // Where clocks change by half an hour, the interval of the next hour may begin earlier.
  return following > start ? following : start + hourMs
}

/** Most points of a series: a day of 25 hours has 1,500 minutes. */
export const pointsMax = 1_500

/** The starts of the intervals of a window; null if there are too many. */
export function startsOf(
  interval: Interval,
  { startMs, endMs }: Window,
  zone: TimeZone,
): number[] | null {
  const starts: number[] = []
  for (let at = startOf(interval, startMs, zone); at < endMs; at = next(interval, at, zone)) {
    if (starts.push(at) > pointsMax) return null
  }
  return starts
}

/** Returns the interval with some dozens of points for a window. */
export function intervalFor({ startMs, endMs }: Window): Interval {
  const days = (endMs - startMs) / dayMs
  // A day may have 25 hours.
  if (days <= 2 + 1 / 24) return 'hour'
  return days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}

/** Returns SQL of the last of these ascending times that is not after a time (SQL, epoch milliseconds). */
export const startSql = (millis: string, starts: readonly number[], bind: Bind): string =>
  `roundDown(toInt64(${millis}), ${bind('Array(Int64)', starts)})`
