import { type TSchema, Type } from 'typebox'

/** The parts that queries, bodies and answers are declared with. */
export const Id = Type.String({ format: 'uuid' })
export const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC.' })
export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC.' })
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** A body, query or set of path parameters that takes these and nothing else. */
export const exactly = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const Version = Type.Integer({ description: 'Grows with every change.' })

/** What an update sends to be sure that nobody changed the object meanwhile. */
export const SeenVersion = Type.Optional(
  Type.Integer({
    minimum: 1,
    description:
      'The version that was edited. When the object has another by now: 409 `conflict` and the object.',
  }),
)

/** A name that people gave: no control characters, and not blanks alone. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]*$',
})
