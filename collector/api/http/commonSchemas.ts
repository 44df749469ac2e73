import type { Readable } from 'node:stream'
import { type TSchema, Type } from 'typebox'
import { allErrorCodes } from './errorCodes.ts'

/**
 * Shared parts of query, body and response schemas. A schema whose `title` is a name (`Project`) is shared:
 * the OpenAPI document contains it once, under that name (openapi/sharedSchemas.ts).
 */
export const Id = Type.String({ format: 'uuid' })
export const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC.' })
export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC.' })
export const Nullable = <S extends TSchema>(schema: S, options: { description?: string } = {}) =>
  Type.Union([schema, Type.Null()], options)

export const Choice = <const V extends string>(
  values: readonly V[],
  options: { default?: V; description?: string } = {},
) => Type.Unsafe<V>(Type.Enum([...values], { type: 'string', ...options }))

/** A body, query or set of path parameters that accepts no other members. */
export const strictObject = <P extends Record<string, TSchema>>(
  properties: P,
  options: { title?: string; default?: object } = {},
) => Type.Object(properties, { ...options, additionalProperties: false })

/** A response that is sent as bytes, without a serializer. */
export const Bytes = (schema: TSchema) => Type.Unsafe<Readable | Buffer>(schema)

export const Version = Type.Integer({ description: 'Increases with each change.' })

/** The version that an update names, so that it does not overwrite a concurrent change. */
export const SeenVersion = Type.Optional(
  Type.Integer({
    minimum: 1,
    description:
      'The version that you edited. If the object has another version, the answer is 409 `conflict` with the current object.',
  }),
)

/** A name that people enter: no control characters, and not only spaces. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]*$',
})

/** The body of every response other than 2xx (answerErrors.ts); some have further members. */
export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'The error, in words that never change.' }),
    code: Choice(allErrorCodes, {
      description:
        'For programs: the cause, from a fixed catalog. An `error` with several causes has one code for each.',
    }),
    message: Type.String({ description: 'An explanation for people.' }),
    request_id: Type.String({ format: 'uuid' }),
    parameter: Type.Optional(Type.String({ description: 'The wrong parameter, with 400.' })),
  },
  { title: 'Error' },
)

/** Adds a description to a JSON response whose schema is shared and cannot have its own. */
export const answerOf = <S extends TSchema>(description: string, schema: S) => ({
  description,
  content: { 'application/json': { schema } },
})
