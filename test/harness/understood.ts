import { type NormalizedMember, normalize } from '../../collector/ingest/normalize/normalize.ts'
import type { BeaconEvent, PixelSettings } from '../../schemas/beacon.ts'

/** The collector's reading of a beacon's `events`, without those that it rejects. */
export const meaningsOf = (
  events: readonly unknown[],
  settings: PixelSettings,
): NormalizedMember[] =>
  events.flatMap((event) => {
    const meaning = normalize(event, settings)
    return 'path' in meaning ? [] : [meaning]
  })

/** The events that they stand for. */
export const eventsOf = (meanings: readonly NormalizedMember[]): BeaconEvent[] =>
  meanings.flatMap(({ own, derived }) => [...(own ? [own] : []), ...derived] as BeaconEvent[])
