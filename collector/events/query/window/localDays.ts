import { type TimeZone, utc } from '../../../platform/timeZone.ts'
import type { Bind } from '../bind.ts'
import { dayMs, type Window } from './window.ts'

/** Returns the number of the local day of a time, since 1 January 1970. */
export const dayOf = (ms: number, zone: TimeZone): number =>
  Math.floor((ms + zone.offsetAt(ms)) / dayMs)

/** Returns the time at which a local day begins. */
export const startOfDay = (day: number, zone: TimeZone): number => zone.instantOf(day * dayMs)

/** Returns SQL for dayOf: the number of the local day of a time (SQL, epoch milliseconds) within a window. */
export function dayOfSql(
  millis: string,
  zone: TimeZone,
  { startMs, endMs }: Window,
  bind: Bind,
): string {
  const all = changesOf(zone)
  const first = Math.max(
    all.times.findLastIndex((time) => time <= startMs),
    0,
  )
  const end =
    Math.max(
      all.times.findLastIndex((time) => time < endMs),
      first,
    ) + 1
  const [times, offsets] = [all.times.slice(first, end), all.offsets.slice(first, end)]
  const offset =
    offsets.length === 1
      ? String(offsets[0])
      : `transform(roundDown(toInt64(${millis}), ${bind('Array(Int64)', times)}), ${bind('Array(Int64)', times)}, ${bind('Array(Int64)', offsets)}, toInt64(0))`
  return `intDiv(${millis} + ${offset}, ${dayMs})`
}

interface Changes {
  readonly times: readonly number[]
  readonly offsets: readonly number[]
}
const changes = new WeakMap<TimeZone, Changes>([[utc, { times: [0], offsets: [0] }]])

/** Returns the times since 1970 at which the offset of a zone changes, with the offset after each. */
function changesOf(zone: TimeZone): Changes {
  const known = changes.get(zone)
  if (known) return known
  const times = [0]
  const offsets = [zone.offsetAt(0)]
  // No zone changes its clocks twice within a week, and back.
  for (let at = 0; at < lastMs; at += 7 * dayMs) {
    if (zone.offsetAt(at + 7 * dayMs) === offsets.at(-1)) continue
    const time = firstAfter(at, at + 7 * dayMs, (ms) => zone.offsetAt(ms) !== offsets.at(-1))
    times.push(time)
    offsets.push(zone.offsetAt(time))
  }
  const found = { times, offsets }
  changes.set(zone, found)
  return found
}
const lastMs = Date.UTC(2100, 0)

/** Finds, by bisection, the first minute in a range at which a condition holds. It must hold from then on. */
function firstAfter(from: number, until: number, holds: (ms: number) => boolean): number {
  const minuteMs = 60_000
  let [before, after] = [from, until]
  while (after - before > minuteMs) {
    const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs
    if (holds(middle)) after = middle
    else before = middle
  }
  return after
}
