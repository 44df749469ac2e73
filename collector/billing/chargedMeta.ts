import { type Static, Type } from 'typebox'
import { MeterName } from './billingSchemas.ts'
import type { Meter } from './meters.ts'

/** The `meta` of a charged answer without other fields. */
export const ChargedMeta = Type.Object(
  {
    meter: MeterName,
    records: Type.Integer({ description: 'Records of the response that the meter counts.' }),
    charged: Type.Integer({
      description: 'Records charged. 0 with a test key and for records that were charged earlier.',
    }),
  },
  { title: 'ChargedMeta' },
)

export const chargedMeta = (
  meter: Meter,
  records: number,
  charged: number,
): Static<typeof ChargedMeta> => ({
  meter,
  records,
  charged,
})
