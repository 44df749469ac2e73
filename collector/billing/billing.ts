import { busy, ClientDisconnected } from '../api/http/errors.ts'
import type { ErrorLog } from '../platform/log.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { ttlCache } from '../platform/ttlCache.ts'
import {
  type Admission,
  type Asked,
  admitRecords,
  type Caller,
  idempotencyOf,
  type Repeated,
  readRepeated,
  type Window,
} from './admission.ts'
import { type BuildPart, carryKeys, isFree, keysOf } from './buildPart.ts'
import { type LedgerCharge, openLedger } from './ledger.ts'
import { type Look, recordLook } from './looks.ts'
import type { Meter } from './meters.ts'
import { defaultPrices } from './prices.ts'
import { refusalError } from './refusals.ts'

export interface Usage {
  meter: Meter
  /** The project whose data is read, where the request names one. */
  projectId: string | null
  /**
   * Most records that the answer may have, which is known without reading: `limit`, `page_size` or the items. What is
   * left of budgets and limits must cover them all. A refusal after the read would reveal for free how many there are.
   */
  recordsMax: number
  /** Of which build of an audience the records are; absent for all others. */
  build?: BuildPart
  /** Aborted when the caller has gone. */
  signal?: AbortSignal
}

/**
 * Charges records before they leave: those of an HTTP answer (chargedRequest.ts), or those of a job. The ledger has the
 * exact number of records before the first byte is sent. Errors, empty answers and test keys are free. A caller who
 * breaks off stays charged; if the service breaks off, it refunds the records that it did not hand over. If the
 * connection breaks before any answer, the same request with the same Idempotency-Key is free for 24 hours, for the
 * records and the meter of the first charge.
 */
export interface Billing {
  /**
   * Decides before the work whether the caller may have records. Throws 402 "budget_exceeded" and 429
   * "platform_cap_exceeded".
   */
  admit(caller: Caller, usage: Usage): Promise<Charge>
  /** Refunds records of a build, named by their keys, that a job was charged for and never handed over. Never rejects. */
  refundBuildRead(read: {
    requestId: string
    organizationId: string
    buildId: string
    keys: readonly number[]
  }): Promise<void>
  /** Records in the audit log that a member is about to be shown who people are. */
  recordLook(request: Parameters<typeof recordLook>[1], look: Look): Promise<void>
  /** Resolves when everything is written. */
  close(): Promise<void>
}

/** What an answer has, besides the number of its records. */
export interface Answered {
  /** Where only the rows tell it; default: what `admit` was asked for. */
  meter?: Meter
  window?: Window
  /**
   * Of a request with Idempotency-Key: what tells each record from all others, in the order of the answer, 64 bits as
   * a decimal number with its sign. Without it a repeat is charged anew. What was charged is kept for 24 hours, with 8
   * bytes a record: 80 KB for 10,000 events or items of a batch, 400 KB for 50,000 visitors, the most there are.
   */
  hashes?: readonly string[]
}

/** What a request will cost, from before its work until its answer has gone. */
export interface Charge {
  /** Whether it came with an Idempotency-Key, or is of a build: `settle` is to be told the hashes of the records. */
  readonly isRepeatable: boolean
  /** What it repeats; null when nothing. */
  readonly repeats: Repeated | null
  /**
   * Charges what is about to be delivered, and returns how many records that were: fewer for a repeat, none with a
   * test key. Throws like `admit`: it is here that budgets and limits are exact. To be called last before the answer
   * begins.
   */
  settle(records: number, answered?: Answered): Promise<number>
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
  log: ErrorLog
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
  // An admission holds for a second: `settle` decides. A refusal is not remembered.
  const admitted = ttlCache((key) => admitRecords(postgres, JSON.parse(key) as Admission, now()))

  /** Charges a response once its build knows whom other builds of the audience were charged for. */
  const chargeCarried = async (ledgerCharge: LedgerCharge, build: BuildPart | undefined) => {
    for (let tries = 0; tries < carriesMax; tries++) {
      const { charged, refusal } = await ledger.charge(ledgerCharge)
      if (refusal?.kind !== 'uncarried') return { charged, refusal }
      const at = new Date(ledgerCharge.at)
      await carryKeys(postgres, ledgerCharge.organization_id, build!, refusal.builds, at)
    }
    throw busy('Another build of this audience is being charged now.', 1)
  }

  return {
    async admit(caller, { meter, projectId, recordsMax, build, signal }) {
      const { organizationId } = caller
      if (caller.mode === 'test') return freeCharge
      const asked: Admission = {
        organizationId,
        projectId: caller.projectId ?? projectId,
        isProjectKey: caller.projectId !== null,
        meter,
        recordsMax,
      }
      const idempotency = idempotencyOf(caller, projectId)
      const repeats =
        idempotency === null ? null : await readRepeated(postgres, asked, idempotency, now())
      try {
        await admitted(JSON.stringify(asked))
      } catch (error) {
        if (!repeats && !(await isFree(postgres, organizationId, build, idempotency, now())))
          throw error
      }

      let settled: LedgerCharge | null = null
      let refunded = Promise.resolve()
      const refund = (handed = 0) => {
        if (settled) refunded = ledger.refund({ ...settled, handed }, new Date(now()))
        settled = null
        return refunded
      }
      return {
        isRepeatable: idempotency !== null || build !== undefined,
        repeats,
        async settle(records, answered = {}) {
          const { meter: actualMeter = meter } = answered
          if (signal?.aborted) throw callerGone()
          if (records === 0) return 0
          const atMs = now()
          const ledgerCharge = chargeOf(
            caller,
            { ...asked, meter: actualMeter },
            { records, atMs, idempotency, build, answered },
          )
          const { charged, refusal } = await chargeCarried(ledgerCharge, build)
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
    },
    refundBuildRead: ({ requestId, organizationId, buildId, keys }) =>
      ledger.refund(
        {
          request_id: requestId,
          organization_id: organizationId,
          idempotency: null,
          build_id: buildId,
          record_hashes: keys.map(String),
          handed: 0,
        },
        new Date(now()),
      ),
    recordLook: (request, look) => recordLook(postgres, request, look),
    close: () => ledger.idle(),
  }
}

/** How often a charge waits for charges of the audience's other builds that came meanwhile. */
const carriesMax = 50

const callerGone = () => new ClientDisconnected('the client disconnected')

const freeCharge: Charge = {
  isRepeatable: false,
  repeats: null,
  settle: async () => 0,
  async *deliver(rows) {
    for await (const { bytes } of rows) yield bytes
  },
  refund: async () => {},
}

function chargeOf(
  { requestId, callerId }: Caller,
  { organizationId, projectId, isProjectKey, meter }: Asked,
  {
    records,
    atMs,
    idempotency,
    build,
    answered: { window, hashes },
  }: {
    records: number
    atMs: number
    idempotency: string | null
    build: BuildPart | undefined
    answered: Answered
  },
): LedgerCharge {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[meter]
  return {
    request_id: requestId,
    organization_id: organizationId,
    project_id: projectId,
    is_project_key: isProjectKey,
    caller_id: callerId,
    meter,
    records,
    at: new Date(atMs).toISOString(),
    idempotency: hashes || build ? idempotency : null,
    micros_per_thousand: microsPerThousand,
    free_records: freeRecordsPerMonth,
    window_start_ms: window?.startMs ?? null,
    window_end_ms: window?.endMs ?? null,
    record_hashes: hashes ?? null,
    build_id: build?.buildId ?? null,
    build_keys: build ? keysOf(build) : null,
  }
}
