import { Type } from 'typebox'
import { eventType, Nullable, Text, Timestamp, Url } from './common.ts'

export const form_submission = eventType(
  5,
  Type.Object({
    url: Url,
    form: Type.Object({
      id: Nullable(Text),
      name: Nullable(Text),
      action: Nullable(Text),
      method: Text,
    }),
    /** Names of the form's fields, never their values. */
    fields: Type.Array(Text, { maxItems: 500 }),
    timestamp: Timestamp,
  }),
)
