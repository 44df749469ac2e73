import type { Tier } from '../../schemas/fields.ts'

/** The meters that count records. Each response is charged on one meter (spec: Metering). */
export const meters = [
  'events',
  'resolution_hem',
  'resolution_hem_pte',
  'resolution_full_profile',
  'lookup',
  'contact',
  'intent',
  'audience',
  'audience_predictive',
] as const
export type Meter = (typeof meters)[number]

/** The meter of records with identity fields of a tier, and of no higher tier (spec: Metering 6). */
export const meterOfTier: Record<Tier, Meter> = {
  web_event: 'events',
  resolution_hem: 'resolution_hem',
  resolution_hem_pte: 'resolution_hem_pte',
  resolution_full_profile: 'resolution_full_profile',
}
