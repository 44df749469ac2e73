import type { TimeZone } from '../../../platform/timeZone.ts'

/** The points of a chart over time, in local time as the API has them. */

/** The length of each point. */
export type Interval = 'minute' | 'hour' | 'day' | 'week' | 'month'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** As many as the API gives. */
const pointsMax = 1_500

/** A window, epoch milliseconds, the end exclusive. */
interface Window {
  start_ms: number
  end_ms: number
}

/** The start of the interval after the one that begins at a time, in local time. */
export function nextOf(
  interval: Interval,
  start: number,
  { offsetAt, instantOf }: TimeZone,
): number {
  if (interval === 'minute') return start + minuteMs
  if (interval === 'hour') return start + hourMs
  const local = new Date(start + offsetAt(start))
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  if (interval === 'month') return instantOf(Date.UTC(year, month + 1))
  // Monday is the first day of a week.
  const days = interval === 'day' ? 1 : 7 - ((local.getUTCDay() + 6) % 7)
  return instantOf(Date.UTC(year, month, day + days))
}

/** Where a time lies between the points, counted from the first; null if it lies outside of them. */
export function placeOf(
  interval: Interval,
  starts: readonly number[],
  at: number,
  zone: TimeZone,
): number | null {
  const index = starts.findLastIndex((start) => start <= at)
  const start = starts[index]
  if (start === undefined || at >= nextOf(interval, start, zone)) return null
  const place = index + (at - start) / (nextOf(interval, start, zone) - start)
  // The last point ends the axis.
  return Math.min(place, starts.length - 1)
}

/** Returns the possible intervals of a window, shortest first: several points, within the API's limit. */
export function intervalsFor({ start_ms, end_ms }: Window): Interval[] {
  const days = (end_ms - start_ms) / dayMs
  const all: [interval: Interval, isFit: boolean][] = [
    ['minute', (end_ms - start_ms) / minuteMs <= pointsMax],
    ['hour', days * 24 <= pointsMax],
    // A day may have 25 hours.
    ['day', days > 1 + 1 / 24],
    ['week', days > 7],
    ['month', days > 31],
  ]
  return all.flatMap(([interval, isFit]) => (isFit ? interval : []))
}

/** Returns the interval with some dozens of points for a window. */
export function intervalFor({ start_ms, end_ms }: Window): Interval {
  const days = (end_ms - start_ms) / dayMs
  if (days <= 2 + 1 / 24) return 'hour'
  return days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}

/** Possible distances between ticks, in points. */
const steps: Record<Interval, readonly number[]> = {
  minute: [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720],
  hour: [1, 2, 3, 4, 6, 12, 24, 48, 7 * 24, 14 * 24],
  day: [1, 2, 3, 7, 14, 28, 56, 112],
  week: [1, 2, 4, 8, 13, 26, 52],
  month: [1, 2, 3, 6, 12],
}

/**
 * Returns the indexes of points with a tick, at most `most`. Minutes and hours are counted from midnight and months from
 * January, days and weeks from the first.
 */
export function ticksOf(
  interval: Interval,
  starts: readonly number[],
  most: number,
  zone: TimeZone,
): number[] {
  const counted = starts.map((start, index) => {
    const local = start + zone.offsetAt(start)
    if (interval === 'minute') return Math.floor(local / minuteMs)
    if (interval === 'hour') return Math.floor(local / hourMs)
    if (interval === 'month') return new Date(local).getUTCMonth()
    return index
  })
  const placesAt = (step: number) =>
    counted.flatMap((count, index) => (count % step === 0 ? index : []))
  const fitting = steps[interval].find((step) => placesAt(step).length <= most)
  return placesAt(fitting ?? steps[interval].at(-1)!)
}
