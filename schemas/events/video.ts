import { Type } from 'typebox'
import { eventType, Nullable, Text, Timestamp, Url } from './common.ts'

export const video = eventType(
  7,
  Type.Object({
    url: Url,
    src: Text,
    /** Of the player, as of a clicked element. */
    elementIdentifier: Type.Optional(Text),
    title: Nullable(Text),
    action: Type.Union([
      Type.Literal('play'),
      Type.Literal('pause'),
      Type.Literal('progress'),
      Type.Literal('ended'),
    ]),
    /** Seconds from the start. */
    position: Type.Number({ minimum: 0 }),
    /** Seconds; null while unknown, or for a live stream. */
    duration: Nullable(Type.Number({ minimum: 0 })),
    /** 0 to 100; 0 while the duration is unknown. */
    percent: Type.Number({ minimum: 0, maximum: 100 }),
    timestamp: Timestamp,
  }),
)
