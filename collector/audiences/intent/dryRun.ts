import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { Meter } from '../../billing/meters.ts'

/** The member `dry_run` of a body. */
export const DryRun = Type.Optional(
  Type.Boolean({
    description: 'True: returns only the number of records that would be billed, free of charge.',
  }),
)

/** The result of a dry run (spec: Dry-run result). */
export const DryRunResult = Type.Object(
  {
    dry_run: Type.Literal(true),
    meter: Type.String(),
    records_to_charge: Type.Integer({
      description: 'Records that the same request would charge; the maximum if `exact` is false.',
    }),
    exact: Type.Boolean({
      description:
        'False if the exact number would reveal data about chosen or few people. Examples: filters by address, filters that could describe fewer than 25 people, audiences of events or lists, named companies, intent rules, opt-outs.',
    }),
  },
  { title: 'DryRunResult' },
)

/** Returns the response of a dry run. */
export const dryRunAnswer = (meter: Meter, records_to_charge: number, exact = true): Buffer => {
  const result: Static<typeof DryRunResult> = { dry_run: true, meter, records_to_charge, exact }
  return Buffer.from(JSON.stringify(result))
}
