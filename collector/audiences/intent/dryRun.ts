import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { Meter } from '../../billing/meters.ts'

export const DryRun = Type.Optional(
  Type.Boolean({
    description:
      'True: returns only the number of records that the same request would charge, free of charge.',
  }),
)

/** The result of a dry run (spec: Dry-run result). */
export const DryRunResult = Type.Object(
  {
    dry_run: Type.Literal(true),
    meter: Type.String(),
    records_to_charge: Type.Integer({
      description: 'The exact number of records that the same request would charge.',
    }),
  },
  { title: 'DryRunResult' },
)

export const dryRunAnswer = (meter: Meter, records_to_charge: number): Buffer => {
  const result: Static<typeof DryRunResult> = { dry_run: true, meter, records_to_charge }
  return Buffer.from(JSON.stringify(result))
}
