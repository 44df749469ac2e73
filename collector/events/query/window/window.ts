import { type Static, Type } from 'typebox'
import { invalidParameter } from '../../../api/http/errors.ts'
import { dayMs } from '../../../platform/days.ts'
import { type TimeZone, utc } from '../../../platform/timeZone.ts'

/** The range of event times, Unix epoch milliseconds: start inclusive, end exclusive. */
export interface Window {
  readonly startMs: number
  readonly endMs: number
}

/** A bound in epoch milliseconds. */
export const Milliseconds = (description: string) =>
  Type.Integer({
    format: 'int64',
    description,
    errorMessage: 'must be milliseconds since 1970, as an integer',
  })

/** A bound as a text, which readWindow reads. */
export const Time = (description: string) => Type.String({ description })

/** The four window parameters of a request (spec: Events, version 3). */
export const windowQuery = {
  start_ms: Type.Optional(
    Milliseconds('First millisecond of the window since 1970. Default: 24 hours before its end.'),
  ),
  end_ms: Type.Optional(
    Milliseconds('First millisecond after the window since 1970. Default: now.'),
  ),
  start_time: Type.Optional(
    Time(
      'The same as start_ms, as RFC 3339, YYYY-MM-DD (midnight UTC) or a Unix timestamp. Numbers below 1e11 are ' +
        'seconds, others milliseconds. Cannot be combined with start_ms.',
    ),
  ),
  end_time: Type.Optional(
    Time('The same as end_ms, in the formats of start_time. Cannot be combined with end_ms.'),
  ),
}
const WindowQuery = Type.Object(windowQuery)
export type WindowParameters = Static<typeof WindowQuery>

/** A time moved back by whole days of local time. */
export const daysEarlier = (ms: number, days: number, zone: TimeZone): number =>
  zone.instantOf(ms + zone.offsetAt(ms) - days * dayMs)

/** The largest distance from 1970 that a date may have, in milliseconds (ECMAScript's own limit). */
export const instantMsMax = 8_640_000_000_000_000

/** A plain number from here on counts as milliseconds: as seconds it would be in the year 5138. */
const unixMillisecondsFrom = 1e11

/**
 * Decides the window of a request. Without an end it reaches up to `nowMs`. Without a start it has so many
 * `days` of the zone. With `includesEnd` the given end is part of it: that millisecond, or all of that day.
 * Dates are local.
 *
 * Throws 400 for a bound given twice (`start_ms` with `start_time`), an invalid bound, and a window that does
 * not end after its start.
 */
export function readWindow(
  parameters: WindowParameters,
  nowMs: number,
  includesEnd = false,
  days = 1,
  zone = utc,
): Window {
  const start = readBound('start', parameters.start_ms, parameters.start_time, zone)
  const end = readBound('end', parameters.end_ms, parameters.end_time, zone)
  const endMs = end ? end.ms + (includesEnd ? end.spanMs : 0) : nowMs
  const startMs = start?.ms ?? daysEarlier(endMs, days, zone)
  if (startMs >= endMs) {
    throw invalidParameter(
      start?.parameter ?? end?.parameter ?? 'end_ms',
      end ? 'the window must end after it starts' : 'the window ends now, so it must start earlier',
    )
  }
  return { startMs, endMs }
}

/** A window of days; without a start it has `daysDefault`. Throws 400 for more than `daysMax`. */
export function readWindowOfDays(
  parameters: WindowParameters,
  nowMs: number,
  { daysDefault, daysMax, zone = utc }: { daysDefault: number; daysMax: number; zone?: TimeZone },
): Window {
  const window = readWindow(parameters, nowMs, false, daysDefault, zone)
  if (window.endMs - window.startMs > daysMax * dayMs) {
    const parameter = parameters.start_time === undefined ? 'start_ms' : 'start_time'
    throw invalidParameter(parameter, `must be at most ${daysMax} days before the end`)
  }
  return window
}

/**
 * Parses an RFC 3339 time or a YYYY-MM-DD date (its midnight, UTC) to epoch milliseconds; finer fractions are
 * truncated. Undefined for other texts, and for a day or an hour that does not exist.
 */
export function isoToMs(text: string): number | undefined {
  const parts = isoPattern.exec(text)?.groups
  if (!parts) return undefined
  const { date, time = '00:00:00', fraction = '', zone = 'Z' } = parts
  // The "+" of an offset arrives as a space without percent-encoding.
  const offset = zone.toUpperCase().replace(' ', '+')
  // Date.parse accepts 30 February as 2 March, and 24:00 as the next day's midnight.
  const asWritten = `${date}T${time}`
  const local = Date.parse(`${asWritten}Z`)
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(asWritten)) return undefined
  const ms = Date.parse(`${asWritten}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`)
  return Number.isNaN(ms) ? undefined : ms
}

const isoPattern =
  /^(?<date>\d{4}-\d\d-\d\d)(?:[Tt ](?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d+))?(?<zone>[Zz]|[+\- ]\d\d:\d\d))?$/

interface Bound {
  parameter: string
  ms: number
  /** The duration of the given time: a millisecond, or a day. */
  spanMs: number
}

const datePattern = /^\d{4}-\d\d-\d\d$/

function readBound(
  side: 'start' | 'end',
  ms: number | undefined,
  time: string | undefined,
  zone: TimeZone,
): Bound | undefined {
  const parameter = ms === undefined ? `${side}_time` : `${side}_ms`
  if (ms !== undefined && time !== undefined) {
    throw invalidParameter(`${side}_time`, `cannot be combined with ${side}_ms`)
  }
  if (ms !== undefined) return { parameter, ms: inRange(parameter, ms), spanMs: 1 }
  if (time !== undefined) {
    const instant = isoToMs(time) ?? unixToMs(time)
    if (instant === undefined) {
      throw invalidParameter(
        parameter,
        'must be an RFC 3339 time, a YYYY-MM-DD date or a Unix timestamp',
      )
    }
    const isDate = datePattern.test(time)
    return {
      parameter,
      ms: inRange(parameter, isDate ? zone.instantOf(instant) : instant),
      spanMs: isDate ? dayMs : 1,
    }
  }
  return undefined
}

function unixToMs(text: string): number | undefined {
  if (!/^-?\d{1,16}(\.\d{1,9})?$/.test(text)) return undefined
  const number = Number(text)
  return Math.floor(Math.abs(number) >= unixMillisecondsFrom ? number : number * 1000)
}

function inRange(parameter: string, ms: number): number {
  if (Math.abs(ms) > instantMsMax)
    throw invalidParameter(parameter, 'must be closer to the present')
  return ms
}
