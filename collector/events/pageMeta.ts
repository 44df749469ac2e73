import type { Tier } from '../../schemas/fields.ts'
import type { Meter } from '../billing/meters.ts'
import type { EventsPlan } from './query/page/eventsPlan.ts'

/** Epoch milliseconds as ISO 8601; null without a time. */
export const isoOrNull = (millis: number | null): string | null =>
  millis === null ? null : new Date(millis).toISOString()

/** Returns the metadata of a page of events. `cursor` is the one of the next page, or null. */
export const metaOf = (
  { window, order, completeUntil = null }: Pick<EventsPlan, 'window' | 'order' | 'completeUntil'>,
  page: {
    readonly tier: Tier
    readonly meter: Meter
    readonly records: number
    readonly charged: number
    readonly hasMore: boolean
    readonly cursor: string | null
    readonly requestId: string
  },
) => ({
  tier: page.tier,
  meter: page.meter,
  records: page.records,
  charged: page.charged,
  start_ms: window.startMs,
  end_ms: window.endMs,
  order,
  complete_until: isoOrNull(completeUntil),
  has_more: page.hasMore,
  ...(page.cursor && { next_cursor: page.cursor }),
  request_id: page.requestId,
})
