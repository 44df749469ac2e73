import { Type } from 'typebox'
import { Text, Timestamp, Url } from './common.ts'

export const download = Type.Object({
  url: Url,
  href: Url,
  filename: Text,
  /** Lower case, without the dot; empty when the file name has none. */
  extension: Type.String({ maxLength: 100 }),
  timestamp: Timestamp,
})
