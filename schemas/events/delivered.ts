import { Type } from 'typebox'
import { Nullable, Timestamp, Url } from './common.ts'

/** What an event of a DSP campaign (source svcdsp) is. */
export const deliveredTypes = ['impression', 'click'] as const

/** The event_data of both: the DSP tells nothing of the page's elements, so its click has not what a pixel's click has. */
export const deliveredData = Type.Object({
  /** Where it was shown; null where the DSP does not tell. */
  url: Nullable(Url),
  campaign_id: Type.String({ format: 'uuid' }),
  /** Cost, in the currency of the campaign's budget. */
  spend: Type.Number(),
  timestamp: Timestamp,
})
