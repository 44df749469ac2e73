import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { underWay, untilClosed } from '../api/http/streaming.ts'
import type { Window } from './admission.ts'
import type { Billing, Charge, Delivery, Usage } from './billing.ts'
import { callerOf } from './caller.ts'
import type { Meter } from './meters.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request was charged; whoever answers with an error refunds it first. */
    charge?: Charge
  }
  interface FastifyContextConfig {
    /** Its records are charged, which the documentation tells. */
    charged?: true
  }
}

/** What a request asks for, once it is checked: whose usage it is, on which meter, and how to read it. */
export interface ChargedRead extends Omit<Usage, 'signal'> {
  /** Reads the records. Called once, when the caller may have some. */
  read(reading: Reading): Promise<ChargedAnswer>
}

export interface Reading {
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
  /** The window to read, where this repeats a request that was charged. */
  readonly window?: Window
}

/** What was read, before its first byte is sent. */
export interface ChargedAnswer {
  /** How many records it has. */
  readonly records: number
  /** Where only the rows tell it; default: the meter that was asked for. */
  readonly meter?: Meter
  /** What was read, where a read has a window; a repeat reads the same. */
  readonly window?: Window
  /**
   * What tells each record from all others, in the order of the answer; asked of requests with Idempotency-Key, and of
   * those that read a build. Absent where all of a build is given.
   */
  hashes?(): readonly string[] | Promise<readonly string[]>
  /** The rows of an answer that is sent piece by piece: of what is never handed over the records are refunded. */
  readonly rows?: AsyncIterable<Delivery>
  /** Sends the answer, or returns it; `rows` are those to send, `charged` the records that were charged. */
  answer(charged: number, rows: AsyncIterable<Buffer>): unknown
}

/** The schemas that a request is checked against. */
interface RequestSchemas {
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
}

type RequestOf<S extends RequestSchemas> = FastifyRequest<{
  Params: S['params'] extends TSchema ? Static<S['params']> : unknown
  Querystring: S['querystring'] extends TSchema ? Static<S['querystring']> : unknown
  Body: S['body'] extends TSchema ? Static<S['body']> : unknown
}>

/**
 * The handler of a route whose records are charged; its request has the types of the route's schema. It asks billing
 * before the work, has it read, charges what was read just before the first byte, and says in X-Footfall-Charged how
 * many records that were, in X-Footfall-Request-Id under which id the ledger has them. Errors on the way are refunded by the one error handler; a caller who goes before the
 * answer begins is not charged.
 */
export const chargedRoute =
  <S extends RequestSchemas>(
    billing: Billing,
    _schema: S,
    ask: (request: RequestOf<S>, reply: FastifyReply) => ChargedRead | Promise<ChargedRead>,
  ) =>
  async (request: RequestOf<S>, reply: FastifyReply): Promise<never> => {
    const signal = untilClosed(reply)
    const { read, ...usage } = await ask(request, reply)
    const charge = await billing.admit(callerOf(request), { ...usage, signal })
    request.charge = charge
    const { window: repeated } = charge.repeats ?? {}
    const found = await read({ signal, ...(repeated && { window: repeated }) })
    const { records, meter = usage.meter, window } = found
    // Read while PostgreSQL writes the charge down; nothing of them is sent before.
    const rows = found.rows && underWay(found.rows)
    const charged = await charge.settle(records, {
      meter,
      ...(window && { window }),
      ...(charge.isRepeatable && found.hashes && { hashes: await found.hashes() }),
    })
    await billing.recordLook(request, { meter, records, projectId: usage.projectId })
    reply.header('x-footfall-request-id', request.id).header('x-footfall-charged', charged)
    // What an answer is, its schema says; to the route's types it is nothing else.
    return found.answer(charged, charge.deliver(rows ?? none())) as never
  }

/** The hashes of records that have these keys. */
export const hashesOf = (keys: readonly string[]): readonly string[] =>
  keys.map((key) => hash('sha256', key, 'buffer').readBigInt64BE().toString())

async function* none(): AsyncGenerator<Delivery> {}
