import { createHash } from 'node:crypto'
import { callerId, type Principal } from '../access/principal.ts'
import { remember } from '../access/remember.ts'
import { invalidParameter, NoAnswer } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'
import { type LedgerCharge, openLedger } from './ledger.ts'
import type { Meter } from './meters.ts'
import { defaultPrices } from './prices.ts'
import { type Refusal, refusalError } from './refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    charge?: Charge
  }
  interface FastifyContextConfig {
    /** Its records are charged, which the documentation tells. */
    charged?: true
  }
}

/** A request that may be charged; Fastify's are. */
export interface ChargeableRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body?: unknown
  readonly principal: Principal
  /** Set by `admit`; whoever answers with an error gives it back first. */
  charge?: Charge
}

export interface Usage {
  meter: Meter
  /** The project whose data is read, where the request names one. */
  projectId: string | null
  /** Aborted when the caller has gone. */
  signal?: AbortSignal
}

/**
 * Metering. A response is charged when its head is sent: its records are counted and in the ledger just before the
 * first byte. Errors, empty answers and test keys are never charged. A download that the caller breaks off stays
 * charged; what the service breaks off is given back. When the connection breaks before any answer has come, the same
 * request with the same Idempotency-Key is free for 24 hours, whatever had happened.
 */
export interface Billing {
  /**
   * Decides before the work whether the request may have records. Throws 402 "budget_exceeded" and 429
   * "platform_cap_exceeded"; 400 for an Idempotency-Key that is none.
   */
  admit(request: ChargeableRequest, usage: Usage): Promise<Charge>
  /** Resolves when everything is written. */
  close(): Promise<void>
}

/** What a request will cost, from before its work until its answer has gone. */
export interface Charge {
  /**
   * Charges what is about to be delivered, and returns how many records that were: fewer for a repeat, none with a
   * test key. Throws like `admit`: it is here that budgets and limits are exact. To be called last before the answer
   * begins. `meter` where only the rows tell it.
   */
  settle(records: number, meter?: Meter): Promise<number>
  /**
   * Passes the rows of the answer on. They are to be asked for one piece after the other, each when the one before has
   * gone to the socket: when they end in an error that is not the caller's doing, the records that never got there are
   * refunded. A caller who let a piece wait is one who broke off.
   */
  deliver(rows: AsyncIterable<Delivery>): AsyncIterable<Buffer>
  /** Refunds what was charged, less the records that were handed over, unless a repeat has had it meanwhile. Never rejects. */
  refund(handed?: number): Promise<void>
}

/** A piece of an answer. */
export interface Delivery {
  readonly bytes: Buffer
  /** How many records end in it. */
  readonly records: number
}

export interface BillingOptions {
  postgres: Postgres
  log: { error(message: string): void }
  /** The time in milliseconds since 1970; it decides the day and the month. */
  now: () => number
  /** How long to try when PostgreSQL does not answer; default ten seconds. */
  patienceMs?: number
  /**
   * How long a piece of an answer may wait for its reader before the reader is the one who broke off; less than
   * ClickHouse waits for us. Default ten seconds.
   */
  readerPatienceMs?: number
}

export function createBilling({
  postgres,
  log,
  now,
  patienceMs = 10_000,
  readerPatienceMs = 10_000,
}: BillingOptions): Billing {
  const ledger = openLedger(postgres, log, patienceMs)
  // Who may have a record may have the next within a second: `settle` decides. Who may not is asked anew each time.
  const admitted = remember((key) => admitOne(postgres, JSON.parse(key) as Asked, now()))

  return {
    async admit(request, { meter, projectId, signal }) {
      const { principal } = request
      if (principal.mode === 'test') return freeCharge
      const asked: Asked = {
        organizationId: principal.organizationId,
        projectId: principal.projectId ?? projectId,
        isProjectKey: principal.projectId !== null,
        meter,
      }
      const idempotency = idempotencyOf(request, projectId)
      try {
        await admitted(JSON.stringify(asked))
      } catch (error) {
        if (!idempotency || !(await isPaid(postgres, asked, idempotency, now()))) throw error
      }

      let settled: LedgerCharge | null = null
      let refunded = Promise.resolve()
      const refund = (handed = 0) => {
        if (settled) refunded = ledger.refund({ ...settled, handed }, new Date(now()))
        settled = null
        return refunded
      }
      const charge: Charge = {
        async settle(records, actualMeter = meter) {
          if (signal?.aborted) throw callerGone()
          if (records === 0) return 0
          const atMs = now()
          const ledgerCharge = chargeOf(
            request,
            { ...asked, meter: actualMeter },
            { records, atMs, idempotency },
          )
          const { charged, refusal } = await ledger.charge(ledgerCharge)
          if (refusal) throw refusalError(refusal, { ...asked, meter: actualMeter, atMs })
          settled = ledgerCharge
          if (!signal?.aborted) return charged
          await refund()
          throw callerGone()
        },
        async *deliver(rows) {
          let handed = 0
          let longestWaitMs = 0
          try {
            for await (const { bytes, records } of rows) {
              const givenAt = performance.now()
              yield bytes
              handed += records
              longestWaitMs = Math.max(longestWaitMs, performance.now() - givenAt)
            }
          } catch (error) {
            // Not waited for: the answer is to break off now.
            if (!signal?.aborted && longestWaitMs < readerPatienceMs) void refund(handed)
            throw error
          }
        },
        refund,
      }
      request.charge = charge
      return charge
    },
    close: () => ledger.idle(),
  }
}

const callerGone = () => new NoAnswer('the caller has gone')

const freeCharge: Charge = {
  settle: async () => 0,
  async *deliver(rows) {
    for await (const { bytes } of rows) yield bytes
  },
  refund: async () => {},
}

/** Who wants records of which meter; what an admission is remembered by. */
interface Asked {
  organizationId: string
  projectId: string | null
  isProjectKey: boolean
  meter: Meter
}

/** Throws unless one record more may be had. */
async function admitOne(postgres: Postgres, asked: Asked, atMs: number): Promise<void> {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[asked.meter]
  const { rows } = await postgres.query<{ refusal: Refusal | null }>({
    name: 'consider_usage',
    text: 'SELECT refusal FROM consider_usage($1, $2, $3, $4, 1, $5, $6, $7)',
    values: [
      ...[asked.organizationId, asked.projectId, asked.isProjectKey, asked.meter],
      ...[new Date(atMs), microsPerThousand, freeRecordsPerMonth],
    ],
  })
  const { refusal } = rows[0]!
  if (refusal) throw refusalError(refusal, { ...asked, atMs })
}

async function isPaid(
  postgres: Postgres,
  { organizationId }: Asked,
  idempotency: string,
  atMs: number,
): Promise<boolean> {
  const { rowCount } = await postgres.query(
    `SELECT 1 FROM idempotent_charges WHERE organization_id = $1 AND idempotency = $2
       AND charged_at > $3::timestamptz - interval '24 hours'`,
    [organizationId, idempotency, new Date(atMs)],
  )
  return rowCount !== 0
}

function chargeOf(
  { id, principal }: ChargeableRequest,
  { organizationId, projectId, isProjectKey, meter }: Asked,
  { records, atMs, idempotency }: { records: number; atMs: number; idempotency: string | null },
): LedgerCharge {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[meter]
  return {
    request_id: id,
    organization_id: organizationId,
    project_id: projectId,
    is_project_key: isProjectKey,
    caller_id: callerId(principal),
    meter,
    records,
    at: new Date(atMs).toISOString(),
    idempotency,
    micros_per_thousand: microsPerThousand,
    free_records: freeRecordsPerMonth,
  }
}

/**
 * What makes a request a repeat: its key together with all that decides which records it gets. PostgreSQL's hex form
 * of a sha256; null without the header.
 */
export function idempotencyOf(
  { headers, method, url, body, principal }: Omit<ChargeableRequest, 'id'>,
  projectId: string | null,
): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidParameter('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  }
  const request = JSON.stringify([key, method, url, body ?? null, principal.projectId, projectId])
  return `\\x${createHash('sha256').update(request).digest('hex')}`
}
