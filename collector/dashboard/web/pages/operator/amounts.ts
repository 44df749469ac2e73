import { wholeNumber } from '../../format.ts'

/** Formats bytes, durations and counts for operators. */

const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

export const count = (value: number | null): string =>
  value === null ? 'unknown' : wholeNumber(value)

export function bytes(value: number | null): string {
  if (value === null) return 'unknown'
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
  return `${short.format(value / 1_000 ** power)} ${units[power]}`
}

export function span(milliseconds: number | null): string {
  if (milliseconds === null) return 'unknown'
  const seconds = milliseconds / 1_000
  if (seconds < 1) return `${short.format(milliseconds)} ms`
  if (seconds < 120) return `${short.format(seconds)} s`
  if (seconds < 7_200) return `${short.format(seconds / 60)} min`
  return seconds < 172_800
    ? `${short.format(seconds / 3_600)} h`
    : `${short.format(seconds / 86_400)} days`
}
