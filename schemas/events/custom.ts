import { Type } from 'typebox'
import { eventType, Timestamp, Url } from './common.ts'

/** Most bytes of JSON that `properties` may take. */
export const customPropertiesBytesMax = 16 * 1024

/** Longest name of a custom event. */
export const nameCharsMax = 100

export const custom = eventType(
  9,
  Type.Object({
    url: Url,
    name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
    /** Flat or nested JSON, at most 16 KiB. */
    properties: Type.Record(Type.String(), Type.Unknown()),
    timestamp: Timestamp,
  }),
)
