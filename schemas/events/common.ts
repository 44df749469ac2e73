import { type TSchema, Type } from 'typebox'

/** ISO 8601 with milliseconds, UTC (spec: event_type values and their event_data). */
export const Timestamp = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  description: 'ISO 8601 with milliseconds, UTC: 2026-01-31T12:00:00.000Z',
})

export const urlLengthMax = 8192

/** A page or resource address, as the browser gave it. */
export const Url = Type.String({ minLength: 1, maxLength: urlLengthMax })

export const textLengthMax = 10_000

/** Text taken from a page: titles, labels, copied words. */
export const Text = Type.String({ maxLength: textLengthMax })

export const Size = Type.Object({ height: Type.Number(), width: Type.Number() })

/**
 * An event type: the schema of its event_data, and its number, from 1 to 255. The number is part of event ids
 * that the collector creates. So it never changes and is never reused.
 */
export const eventType = <N extends number, S extends TSchema>(number: N, data: S) => ({
  number,
  data,
})

export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
