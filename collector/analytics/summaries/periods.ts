import type { Window } from '../../events/query/window/window.ts'
import { dayMs } from '../../platform/days.ts'
import { type TimeZone, utc } from '../../platform/timeZone.ts'

export const frequencies = ['weekly', 'monthly'] as const
export type Frequency = (typeof frequencies)[number]

/** Period of a summary: a week from Monday or a calendar month in local time, and the previous one. */
export interface Period extends Window {
  readonly zone: TimeZone
  /** YYYY-MM-DD. */
  readonly firstDay: string
  readonly lastDay: string
  readonly before: Window
}

/** Delay after the end of a period, in which its last events are stored, and people in Europe get up. */
const afterMs = 6 * 3_600_000

/** Returns the last period that is due now. */
export function periodToTell(frequency: Frequency, nowMs: number, zone: TimeZone = utc): Period {
  const thenMs = nowMs - afterMs
  const at = new Date(thenMs + zone.offsetAt(thenMs))
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  const monday = day - ((at.getUTCDay() + 6) % 7)
  const [before, start, end] =
    frequency === 'weekly'
      ? ([14, 7, 0].map((days) => Date.UTC(year, month, monday - days)) as [number, number, number])
      : ([2, 1, 0].map((months) => Date.UTC(year, month - months)) as [number, number, number])
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const [beforeMs, startMs, endMs] = [before, start, end].map(zone.instantOf) as [
    number,
    number,
    number,
  ]
  return {
    zone,
    startMs,
    endMs,
    firstDay: dayOf(start),
    lastDay: dayOf(end - dayMs),
    before: { startMs: beforeMs, endMs: startMs },
  }
}
