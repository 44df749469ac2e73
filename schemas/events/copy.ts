import { Type } from 'typebox'
import { eventType, Text, Timestamp, Url } from './common.ts'

export const copy = eventType(
  4,
  Type.Object({
    url: Url,
    /** The copied text, cut to a set length, masked where the page asks. */
    text: Text,
    /** Characters copied, before any cut. */
    textLength: Type.Integer({ minimum: 0 }),
    timestamp: Timestamp,
  }),
)
