import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import { untilClosed } from '../../api/http/streaming.ts'
import type { Billing } from '../../billing/billing.ts'
import { type ChargedRead, chargedRoute } from '../../billing/chargedRoute.ts'
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

export const dryRunAnswer = (meter: Meter, records_to_charge: number, exact = true): Buffer => {
  const result: Static<typeof DryRunResult> = { dry_run: true, meter, records_to_charge, exact }
  return Buffer.from(JSON.stringify(result))
}

/** A route's schema whose body may ask for a dry run. */
interface DryRunSchema {
  body: TSchema
}

/** A read that may have a dry run. */
export interface DryRunRead extends ChargedRead {
  /** Whether the exact number of records may be free; else a dry run tells the most there can be. */
  readonly isNumberFree: boolean
  /** Whether a dry run counts what a run would be charged; else, by a few people, more. */
  readonly isExact: boolean
}

type RequestOf<S extends DryRunSchema> = FastifyRequest<{ Body: Static<S['body']> }>

/**
 * The handler of a charged route whose body may have `dry_run`: then it reads the same records by the same queries,
 * charges none, and answers how many they are. Where that number is sold it reads nothing and answers an upper bound.
 */
export function dryRunRoute<S extends DryRunSchema>(
  billing: Billing,
  schema: S,
  ask: (request: RequestOf<S>, reply: FastifyReply) => DryRunRead | Promise<DryRunRead>,
) {
  const charged = chargedRoute(billing, schema, (request, reply) =>
    ask(request as RequestOf<S>, reply),
  )
  return async (request: RequestOf<S>, reply: FastifyReply): Promise<never> => {
    if ((request.body as { dry_run?: boolean }).dry_run !== true) {
      return charged(request as Parameters<typeof charged>[0], reply)
    }
    const { meter, read, recordsMax, isNumberFree, isExact } = await ask(request, reply)
    reply.type('application/json; charset=utf-8')
    if (!isNumberFree) return dryRunAnswer(meter, recordsMax, false) as never
    const { records } = await read({ signal: untilClosed(reply) })
    return dryRunAnswer(meter, records, isExact) as never
  }
}
