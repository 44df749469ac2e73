import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { Meter } from '../../billing/meters.ts'

/** The member `dry_run` of a body. */
export const DryRun = Type.Optional(
  Type.Boolean({
    description: 'True: nothing is returned or billed but how many records would be.',
  }),
)

/** What is answered with it (spec: Dry-run result). */
export const DryRunResult = Type.Object(
  {
    dry_run: Type.Literal(true),
    meter: Type.String(),
    records_to_charge: Type.Integer({
      description:
        'How many records the same request would be charged; at most so many if `exact` is false.',
    }),
    exact: Type.Boolean({
      description:
        'False where the exact number would reveal something of people whom you chose: by address, by an audience of ' +
        'events or lists, by naming companies, by events of yours that count as intent, or by opting them out.',
    }),
  },
  { title: 'DryRunResult' },
)

/** The answer of a dry run. */
export const dryRunAnswer = (meter: Meter, records_to_charge: number, exact = true): Buffer => {
  const result: Static<typeof DryRunResult> = { dry_run: true, meter, records_to_charge, exact }
  return Buffer.from(JSON.stringify(result))
}
