import { Type } from 'typebox'
import { type Meter, meters } from './meters.ts'
import { currency } from './prices.ts'

/** The parts that bodies and answers of this area are made of. */
export const MeterName = Type.Unsafe<Meter>(Type.Union(meters.map((meter) => Type.Literal(meter))))
export const Currency = Type.Literal(currency)
export const Micros = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `${description} In micros.`,
  })

export const tags = ['Billing']
