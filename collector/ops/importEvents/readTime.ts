import type { Fault } from '../../ingest/normalize/validateEvent.ts'
import { dayExists } from '../../platform/days.ts'
import type { ImportedRow } from './columns.ts'

const timePattern =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/i
const latestMillis = 8.64e15

/** Returns the time of a row, epoch milliseconds; null if only its event_data has a time. */
export function readTime({ ts_millis, timestamp }: ImportedRow): number | null | Fault {
  if (ts_millis !== undefined) {
    const millis = Number(ts_millis)
    return Number.isSafeInteger(millis) && Math.abs(millis) <= latestMillis
      ? millis
      : { path: '/ts_millis', message: 'must be an integer of epoch milliseconds' }
  }
  if (timestamp === undefined) return null
  const [, date = '', time, zone] = timePattern.exec(String(timestamp)) ?? []
  const millis = Date.parse(`${date}T${time?.replace(',', '.')}${offsetOf(zone)}`)
  if (date && !dayExists(date)) return { path: '/timestamp', message: 'must be a date that exists' }
  return Number.isNaN(millis)
    ? { path: '/timestamp', message: 'must be an ISO 8601 time, such as 2026-01-31T12:00:00.000Z' }
    : millis
}

/** An offset with hours and minutes: PostgreSQL writes "+00". */
function offsetOf(zone: string | undefined): string {
  const [, hours, minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone ?? '') ?? []
  return hours ? `${hours}:${minutes}` : 'Z'
}
