import type { TimeZone } from '../../../platform/timeZone.ts'
import { dayMs } from './window.ts'

/** Returns the number of the local day of a time, since 1 January 1970. */
export const dayOf = (ms: number, zone: TimeZone): number =>
  Math.floor((ms + zone.offsetAt(ms)) / dayMs)

export const startOfDay = (day: number, zone: TimeZone): number => zone.instantOf(day * dayMs)
