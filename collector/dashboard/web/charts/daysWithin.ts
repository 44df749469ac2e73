import type { TimeZone } from '../../../platform/timeZone.ts'
import { type Interval, nextOf } from './buckets.ts'

/** Days from the first to the last, both inclusive, YYYY-MM-DD. */
export interface Days {
  from: string
  to: string
}

/**
 * Returns the days of a point: of a minute or an hour its day, of a week or month all its days. Null if the chart
 * shows no other days.
 */
export function daysWithin(
  interval: Interval,
  starts: readonly number[],
  index: number,
  zone: TimeZone,
): Days | null {
  const dayOf = (millis: number) =>
    new Date(millis + zone.offsetAt(millis)).toISOString().slice(0, 10)
  const [start, last] = [starts[index]!, starts.at(-1)!]
  const from = dayOf(start)
  const to = dayOf(nextOf(interval, start, zone) - 1)
  const isAll = from <= dayOf(starts[0]!) && dayOf(nextOf(interval, last, zone) - 1) <= to
  return isAll ? null : { from, to }
}
