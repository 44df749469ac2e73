import { dayMs, hourMs, type Window } from '../events/query/window.ts'

/** The intervals of a series; all begin in UTC, weeks on Mondays. */
export const intervals = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

/** 1 January 1970 was a Thursday. */
const mondayMs = 3 * dayMs

/** SQL of the start of the interval of a time (SQL, epoch milliseconds), epoch milliseconds. */
export const startSql: Record<Interval, (millis: string) => string> = {
  hour: (millis) => `intDiv(${millis}, ${hourMs}) * ${hourMs}`,
  day: (millis) => `intDiv(${millis}, ${dayMs}) * ${dayMs}`,
  week: (millis) => `intDiv(${millis} + ${mondayMs}, ${7 * dayMs}) * ${7 * dayMs} - ${mondayMs}`,
  month: (millis) =>
    `toInt64(toUnixTimestamp(toStartOfMonth(fromUnixTimestamp64Milli(${millis}, 'UTC')), 'UTC')) * 1000`,
}

/** Returns the start of the interval of a time. */
function startOf(interval: Interval, millis: number): number {
  const floor = (lengthMs: number, offsetMs = 0) =>
    Math.floor((millis + offsetMs) / lengthMs) * lengthMs - offsetMs
  switch (interval) {
    case 'hour':
      return floor(hourMs)
    case 'day':
      return floor(dayMs)
    case 'week':
      return floor(7 * dayMs, mondayMs)
    case 'month': {
      const at = new Date(millis)
      return Date.UTC(at.getUTCFullYear(), at.getUTCMonth())
    }
  }
}

const next = (interval: Interval, start: number): number => {
  if (interval !== 'month') return start + { hour: hourMs, day: dayMs, week: 7 * dayMs }[interval]
  const at = new Date(start)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

/** Most points of a series. */
export const pointsMax = 1_000

/** Returns the starts of a window's intervals; null if there are too many. */
export function startsOf(interval: Interval, { startMs, endMs }: Window): number[] | null {
  const starts: number[] = []
  for (let at = startOf(interval, startMs); at < endMs; at = next(interval, at)) {
    if (starts.push(at) > pointsMax) return null
  }
  return starts
}

/** Returns the interval with some dozens of points for a window. */
export function intervalFor({ startMs, endMs }: Window): Interval {
  const days = (endMs - startMs) / dayMs
  if (days <= 2) return 'hour'
  return days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}
