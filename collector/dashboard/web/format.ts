/** Formats figures in the user's language. */

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

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const hour = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})
const month = new Intl.DateTimeFormat(undefined, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

/** Formats the start of an interval. */
export function startOf(interval: 'hour' | 'day' | 'week' | 'month', millis: number): string {
  switch (interval) {
    case 'hour':
      return `${hour.format(millis)} UTC`
    case 'week':
      return `Week of ${day.format(millis)}`
    case 'month':
      return month.format(millis)
    default:
      return day.format(millis)
  }
}

const dayOfYear = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', timeZone: 'UTC' })
const monthOfYear = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' })
const year = new Intl.DateTimeFormat(undefined, { year: 'numeric', timeZone: 'UTC' })

/** Formats the start of an interval as a label of an axis: midnights show their day, Januaries their year. */
export function tickOf(interval: 'hour' | 'day' | 'week' | 'month', millis: number): string {
  const at = new Date(millis)
  if (interval === 'month') return (at.getUTCMonth() === 0 ? year : monthOfYear).format(at)
  return (interval === 'hour' && at.getUTCHours() > 0 ? timeOfDay : dayOfYear).format(at)
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
