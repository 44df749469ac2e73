import { type TSchema, Type } from 'typebox'
import { type Meter, meters } from './meters.ts'
import { currency } from './prices.ts'

/** The parts that queries, bodies and answers of this area are made of. */
export const Id = Type.String({ format: 'uuid' })
export const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC.' })
export const MeterName = Type.Unsafe<Meter>(Type.Union(meters.map((meter) => Type.Literal(meter))))
export const Currency = Type.Literal(currency)
export const Micros = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: `${description} In micros.` })
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** A body, query or set of path parameters that takes these and nothing else. */
export const exactly = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const tags = ['Billing']
