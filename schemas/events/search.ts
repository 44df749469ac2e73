import { Type } from 'typebox'
import { Nullable, Text, Timestamp, Url } from './common.ts'

export const search = Type.Object({
  url: Url,
  query: Text,
  results_count: Nullable(Type.Integer({ minimum: 0 })),
  timestamp: Timestamp,
})
