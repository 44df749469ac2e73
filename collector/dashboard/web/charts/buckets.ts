/** The points of a chart over time, in UTC as the API has them. */

/** How long each point is. */
export type Interval = 'hour' | 'day' | 'week' | 'month'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const lengthMs = { hour: hourMs, day: dayMs, week: 7 * dayMs }
/** 1 January 1970 was a Thursday, and weeks begin on Mondays. */
const mondayMs = 3 * dayMs
/** As many as the API gives. */
const pointsMax = 1_000

/** A window, epoch milliseconds, the end exclusive. */
interface Window {
  start_ms: number
  end_ms: number
}

/** When the intervals of a window begin, first to last. */
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

/** When the interval after the one that begins then begins. */
export function nextOf(interval: Interval, start: number): number {
  if (interval !== 'month') return start + lengthMs[interval]
  const at = new Date(start)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** Where a time lies between the points, counted from the first; null if it lies outside of them. */
export function placeOf(interval: Interval, starts: readonly number[], at: number): number | null {
  const index = starts.findLastIndex((start) => start <= at)
  const start = starts[index]
  if (start === undefined || at >= nextOf(interval, start)) return null
  const place = index + (at - start) / (nextOf(interval, start) - start)
  // The last point ends the axis.
  return Math.min(place, starts.length - 1)
}

/** The intervals that a window can be shown by, shortest first: several points, and no more than the API gives. */
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

/** The interval that shows a window best: some dozens of points. */
export function intervalFor({ start_ms, end_ms }: Window): Interval {
  const days = (end_ms - start_ms) / dayMs
  if (days <= 2) return 'hour'
  return days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}

/** How many points may lie from one tick to the next. */
const steps: Record<Interval, readonly number[]> = {
  hour: [1, 2, 3, 4, 6, 12, 24, 48, 7 * 24, 14 * 24],
  day: [1, 2, 3, 7, 14, 28, 56, 112],
  week: [1, 2, 4, 8, 13, 26, 52],
  month: [1, 2, 3, 6, 12],
}

/**
 * The points that have a tick, by their place: as many as fit, at most `most`. Hours are counted from midnight and months
 * from January, days and weeks from the first.
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
