/** The points of a chart over time, in UTC like those of the API. */

/** The length of each point. */
export type Interval = 'hour' | 'day' | 'week' | 'month'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const lengthMs = { hour: hourMs, day: dayMs, week: 7 * dayMs }
/** 1 January 1970 was a Thursday, and weeks begin on Mondays. */
const mondayMs = 3 * dayMs
/** The API's limit. */
const pointsMax = 1_000

/** A window, epoch milliseconds, the end exclusive. */
interface Window {
  start_ms: number
  end_ms: number
}

/** Returns the starts of a window's intervals. */
export function startsOf(interval: Interval, { start_ms, end_ms }: Window): number[] {
  const starts: number[] = []
  for (let at = startOf(interval, start_ms); at < end_ms; at = nextOf(interval, at)) starts.push(at)
  return starts
}

function startOf(interval: Interval, millis: number): number {
  if (interval === 'month') {
    const at = new Date(millis)
    return Date.UTC(at.getUTCFullYear(), at.getUTCMonth())
  }
  const offsetMs = interval === 'week' ? mondayMs : 0
  const length = lengthMs[interval]
  return Math.floor((millis + offsetMs) / length) * length - offsetMs
}

/** Returns the start of the next interval. */
export function nextOf(interval: Interval, start: number): number {
  if (interval !== 'month') return start + lengthMs[interval]
  const at = new Date(start)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** Returns the possible intervals of a window, shortest first: several points, within the API's limit. */
export function intervalsFor({ start_ms, end_ms }: Window): Interval[] {
  const days = (end_ms - start_ms) / dayMs
  const all: [interval: Interval, isFit: boolean][] = [
    ['hour', days * 24 <= pointsMax],
    ['day', days > 1],
    ['week', days > 7],
    ['month', days > 31],
  ]
  return all.flatMap(([interval, isFit]) => (isFit ? interval : []))
}

/** Returns the interval with some dozens of points for a window. */
export function intervalFor({ start_ms, end_ms }: Window): Interval {
  const days = (end_ms - start_ms) / dayMs
  if (days <= 2) return 'hour'
  return days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}

/** Possible distances between ticks, in points. */
const steps: Record<Interval, readonly number[]> = {
  hour: [1, 2, 3, 4, 6, 12, 24, 48, 7 * 24, 14 * 24],
  day: [1, 2, 3, 7, 14, 28, 56, 112],
  week: [1, 2, 4, 8, 13, 26, 52],
  month: [1, 2, 3, 6, 12],
}

/**
 * Returns the indexes of points with a tick, at most `most`. Hours are counted from midnight and months from
 * January, days and weeks from the first.
 */
export function ticksOf(interval: Interval, starts: readonly number[], most: number): number[] {
  const counted = starts.map((start, index) => {
    if (interval === 'hour') return start / hourMs
    if (interval === 'month') return new Date(start).getUTCMonth()
    return index
  })
  const placesAt = (step: number) =>
    counted.flatMap((count, index) => (count % step === 0 ? index : []))
  const fitting = steps[interval].find((step) => placesAt(step).length <= most)
  return placesAt(fitting ?? steps[interval].at(-1)!)
}
