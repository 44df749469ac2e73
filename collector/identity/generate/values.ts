import type { Random } from '../../platform/seededRandom.ts'
import type { Place } from './words.ts'

/** Values by field name, as JSON has them. */
export type Values = Record<string, string | number | boolean | null>

/** The range of a fixed list that contains a number: `steps` are the upper bounds. */
export const rangeOf = (
  value: number,
  steps: readonly number[],
  ranges: readonly string[],
): string => ranges[steps.findIndex((step) => value <= step)] ?? ranges.at(-1)!

/** Returns `least` to `most` different values of a list, in its order, separated by commas. */
export function pickSome(
  random: Random,
  list: readonly string[],
  least: number,
  most: number,
): string {
  const values = [...new Set(list)]
  const wanted = Math.min(random.integer(least, most), values.length)
  const picked = new Set<string>()
  while (picked.size < wanted) picked.add(random.pick(values))
  return values.filter((value) => picked.has(value)).join(', ')
}

/** Converts a text to lower-case letters and digits, with hyphens between words. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** Returns a number from 555-0100 to 555-0199, which are reserved for fiction. */
export const phoneIn = (random: Random, place: Place): string =>
  `${place.dial}55501${String(random.integer(0, 99)).padStart(2, '0')}`

export const postalCodeIn = (random: Random, place: Place): string =>
  `${place.postal}${String(random.integer(1, 99)).padStart(2, '0')}`
