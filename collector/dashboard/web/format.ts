import type { Interval } from './charts/buckets.ts'
import { zone } from './zone.ts'

/** How figures read, in the reader's own language. */

const whole = new Intl.NumberFormat()
const tenths = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const change = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})

export const wholeNumber = (value: number): string => whole.format(value)

/** Returns a text such as "1 visitor", "2,345 visitors". */
export const counted = (value: number, noun: string): string =>
  `${whole.format(value)} ${noun}${value === 1 ? '' : 's'}`

/** Formats an amount in a currency (ISO 4217). */
export const moneyOf = (value: number, currency: string, maximumFractionDigits?: number): string =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency, maximumFractionDigits }).format(
    value,
  )

/** The same without cents, where there are a thousand units or more. */
export const roundMoney = (value: number, currency: string): string =>
  moneyOf(value, currency, Math.abs(value) < 1_000 ? undefined : 0)

/** Formats a share from 0 to 1. */
export const percent = (value: number): string => share.format(value)

/** Returns the change between two numbers, such as "+12 %"; empty without an earlier value. */
export const changeOf = (now: number | null, before: number | null): string | null =>
  now === null || !before ? null : change.format(now / before - 1)

/** Returns a text such as "45 s", "2 min", "2 min 5 s", "1.5 h". */
export function duration(millis: number): string {
  const seconds = Math.round(millis / 1000)
  if (seconds < 60) return `${seconds} s`
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  if (seconds < 3_600) return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`
  return `${tenths.format(seconds / 3_600)} h`
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** A time in the zone of the project, in one of a few forms. */
function inZone(millis: number, options: Intl.DateTimeFormatOptions): string {
  const key = zone.value.name + JSON.stringify(options)
  let format = formats.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone.value.name })
    formats.set(key, format)
  }
  return format.format(millis)
}

const day = { dateStyle: 'medium' } as const

const utcDay = new Intl.DateTimeFormat(undefined, { ...day, timeZone: 'UTC' })

/** Formats a date such as 2026-11-27, which has no time zone. */
export const dateText = (date: string): string => utcDay.format(Date.parse(date))

/** Formats the time of an event as figures count it: in the zone of the project, to the second. */
export const eventTime = (at: string): string =>
  inZone(Date.parse(at), { ...day, timeStyle: 'medium' })
/** The same without the day, to the minute, of epoch milliseconds. */
export const eventClock = (millis: number): string => inZone(millis, { timeStyle: 'short' })

/** The name of an interval by its start. */
export function startOf(interval: Interval, millis: number): string {
  switch (interval) {
    case 'minute':
    case 'hour':
      return `${inZone(millis, { ...day, timeStyle: 'short' })}${zone.value.name === 'UTC' ? ' UTC' : ''}`
    case 'week':
      return `Week of ${inZone(millis, day)}`
    case 'month':
      return inZone(millis, { month: 'long', year: 'numeric' })
    default:
      return inZone(millis, day)
  }
}

/** The start of an interval as a label of an axis: midnights show their day, Januaries their year. */
export function tickOf(interval: Interval, millis: number): string {
  const local = new Date(millis + zone.value.offsetAt(millis))
  if (interval === 'month')
    return inZone(millis, local.getUTCMonth() === 0 ? { year: 'numeric' } : { month: 'short' })
  const isWithinDay = local.getUTCHours() > 0 || local.getUTCMinutes() > 0
  return (interval === 'minute' || interval === 'hour') && isWithinDay
    ? inZone(millis, { timeStyle: 'short' })
    : inZone(millis, { day: 'numeric', month: 'short' })
}

const regions = new Intl.DisplayNames(undefined, { type: 'region' })

/** Returns the name of a country by its ISO 3166-1 code. */
export function countryName(code: string): string {
  try {
    return regions.of(code) ?? code
  } catch {
    return code
  }
}
