import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import type { Billing } from '../billing/billing.ts'
import { type ChargedRead, chargedRoute } from '../billing/chargedRoute.ts'
import type { Meter } from '../billing/meters.ts'
import { untilClosed } from '../http/streaming.ts'

/** The member `dry_run` of a body. */
export const DryRun = Type.Optional(
  Type.Boolean({ description: 'True: nothing is returned or billed but how many records would be.' }),
)

/** What is answered with it (spec: Dry-run result). */
export const DryRunResult = Type.Object(
  {
    dry_run: Type.Literal(true),
    meter: Type.String(),
    records_to_charge: Type.Integer({ description: 'Exactly as many as the same request would be charged.' }),
  },
  { title: 'DryRunResult' },
)

export const dryRunAnswer = (meter: Meter, records_to_charge: number): Buffer => {
  const result: Static<typeof DryRunResult> = { dry_run: true, meter, records_to_charge }
  return Buffer.from(JSON.stringify(result))
}

/** A route's schema whose body may ask for a dry run. */
interface DryRunSchema {
  body: TSchema
}

type RequestOf<S extends DryRunSchema> = FastifyRequest<{ Body: Static<S['body']> }>

/**
 * The handler of a charged route whose body may have `dry_run`: then it reads the same records by the same queries,
 * charges none, and answers how many they are.
 */
export function dryRunRoute<S extends DryRunSchema>(
  billing: Billing,
  schema: S,
  ask: (request: RequestOf<S>, reply: FastifyReply) => ChargedRead | Promise<ChargedRead>,
) {
  const charged = chargedRoute(billing, schema, (request, reply) => ask(request as RequestOf<S>, reply))
  return async (request: RequestOf<S>, reply: FastifyReply): Promise<never> => {
    if ((request.body as { dry_run?: boolean }).dry_run !== true) {
      return charged(request as Parameters<typeof charged>[0], reply)
    }
    const { meter, read } = await ask(request, reply)
    const { records } = await read({ signal: untilClosed(reply) })
    reply.type('application/json; charset=utf-8')
    return dryRunAnswer(meter, records) as never
  }
}
