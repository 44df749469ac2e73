import { type TSchema, Type } from 'typebox'

/** The parts that queries, bodies and answers are declared with. */
export const Id = Type.String({ format: 'uuid' })
export const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC.' })
export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC.' })
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** A body, query or set of path parameters that takes these and nothing else. */
export const exactly = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })
