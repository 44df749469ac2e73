import { wholeNumber } from '../format.ts'

/** Formats numbers of records and amounts of money. */

const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' })

export const money = (micros: number): string =>
  micros > 0 && micros < 10_000 ? `under ${dollars.format(0.01)}` : dollars.format(micros / 1e6)

export const records = wholeNumber

/** A free number, or a dash while the free answers of the day are used up and it is omitted. */
export const recordsOrDash = (count: number | undefined): string =>
  count === undefined ? '–' : records(count)

/** The meters' names on the price list. */
export const meterNames: Record<string, string> = {
  events: 'Events',
  resolution_hem: 'Identity: hashed e-mail',
  resolution_hem_pte: 'Identity: hashed e-mail and ad ids',
  resolution_full_profile: 'Identity: full profile',
  lookup: 'Lookup',
  contact: 'Contact',
  intent: 'Intent',
  audience: 'Audience',
  audience_predictive: 'Audience: predictive',
}

export const nameOfMeter = (meter: string): string => meterNames[meter] ?? meter
