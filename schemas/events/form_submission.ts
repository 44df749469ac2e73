import { Type } from 'typebox'
import { Nullable, Text, Timestamp, Url } from './common.ts'

export const form_submission = Type.Object({
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
})
