import { Type } from 'typebox'
import { eventType, Nullable, Text, Timestamp, Url } from './common.ts'

export const search = eventType(
  6,
  Type.Object({
    url: Url,
    query: Text,
    results_count: Nullable(Type.Integer({ minimum: 0 })),
    timestamp: Timestamp,
  }),
)
