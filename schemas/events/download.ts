import { Type } from 'typebox'
import { eventType, Text, Timestamp, Url } from './common.ts'

export const download = eventType(
  8,
  Type.Object({
    url: Url,
    href: Url,
    filename: Text,
    /** Lower case, without the dot; empty when the file name has none. */
    extension: Type.String({ maxLength: 100 }),
    timestamp: Timestamp,
  }),
)
