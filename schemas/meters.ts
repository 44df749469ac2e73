import type { Tier } from './fields.ts'

/** What reading is charged as: one meter for each price tier (spec: Metering rules, 5 and 6). */
export const meters = ['events', 'resolution_hem', 'resolution_hem_pte', 'resolution_full_profile'] as const
export type Meter = (typeof meters)[number]

/** The meter of rows that hold columns of `tier` and none above it. */
export const meterOf: Readonly<Record<Tier, Meter>> = {
  web_event: 'events',
  resolution_hem: 'resolution_hem',
  resolution_hem_pte: 'resolution_hem_pte',
  resolution_full_profile: 'resolution_full_profile',
}
