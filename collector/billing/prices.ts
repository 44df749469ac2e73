import type { Meter } from './meters.ts'

/** The currency of all amounts, which are integers in millionths (micros). */
export const currency = 'usd' as const

export interface Price {
  /** A multiple of 1,000, so that the price of a record is an integer. */
  microsPerThousand: number
  /** The number of free records in a calendar month (UTC). */
  freeRecordsPerMonth: number
}

/** The price for organizations without a row in the table meter_prices. */
export const defaultPrices: Record<Meter, Price> = {
  events: { microsPerThousand: 100_000, freeRecordsPerMonth: 10_000 },
  resolution_hem: { microsPerThousand: 2_000_000, freeRecordsPerMonth: 0 },
  resolution_hem_pte: { microsPerThousand: 5_000_000, freeRecordsPerMonth: 0 },
  resolution_full_profile: { microsPerThousand: 20_000_000, freeRecordsPerMonth: 0 },
  lookup: { microsPerThousand: 10_000_000, freeRecordsPerMonth: 0 },
  contact: { microsPerThousand: 50_000_000, freeRecordsPerMonth: 0 },
  intent: { microsPerThousand: 10_000_000, freeRecordsPerMonth: 0 },
  audience: { microsPerThousand: 5_000_000, freeRecordsPerMonth: 0 },
  audience_predictive: { microsPerThousand: 10_000_000, freeRecordsPerMonth: 0 },
}
