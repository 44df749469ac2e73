import { Type } from 'typebox'
import { eventType, Timestamp, Url } from './common.ts'

export const scroll_depth = eventType(
  3,
  Type.Object({
    url: Url,
    /** The depth actually reached, in percent of the page. */
    percentage: Type.Number({ minimum: 0, maximum: 100 }),
    threshold: Type.Union([
      Type.Literal(25),
      Type.Literal(50),
      Type.Literal(75),
      Type.Literal(100),
    ]),
    timestamp: Timestamp,
  }),
)
