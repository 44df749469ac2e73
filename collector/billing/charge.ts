import { ClientDisconnected } from '../api/http/errors.ts'
import { type BuildPart, keysOf } from './buildPart.ts'
import type { Ledger, LedgerCharge } from './ledger.ts'
import type { Meter } from './meters.ts'
import { defaultPrices } from './prices.ts'
import { type Refusal, refusalError } from './refusals.ts'

/** The principal that is charged for records: the caller of a request (`callerOf`), or a job. */
export interface Caller {
  /** The id of the charge, a uuid. The ledger charges each id once. */
  readonly requestId: string
  /** The API request that the charge belongs to, if it has another id; the log of requests adds it there. */
  readonly forRequest?: string | null
  readonly organizationId: string
  /** The project of a project key. The budget of this project also applies. Null for a key of the organization. */
  readonly projectId: string | null
  /** The key, member or job that asks. A uuid. */
  readonly callerId: string
  /** Test keys are never charged. */
  readonly mode: 'live' | 'test'
  /** An Idempotency-Key with everything that determines its records. Null: a repeat is charged again. */
  readonly repeatOf: readonly unknown[] | null
}

/** The time window of a read, in milliseconds since 1970. */
export interface ReadWindow {
  readonly startMs: number
  readonly endMs: number
}

/** The earlier charge for the same request with the same Idempotency-Key. */
export interface Repeated {
  /** Window of the earlier read, which the repeat must also use. Null for reads without a window. */
  readonly window: ReadWindow | null
}

export interface ChargedTo {
  organizationId: string
  projectId: string | null
  isProjectKey: boolean
  meter: Meter
}

/** Content of a response, in addition to the number of its records. */
export interface Answered {
  /** The meter, if only the rows determine it. Default: the meter of `admit`. */
  meter?: Meter
  window?: ReadWindow
  /**
   * For a request with Idempotency-Key: a hash that identifies each record, in the order of the response, 64
   * bits as a signed decimal number. Without it a repeat is charged again. Hashes are stored for 24 hours,
   * with 8 bytes a record. This is 80 KB for 10,000 events or items of a batch, and at most 400 KB for 50,000
   * visitors.
   */
  hashes?: readonly string[]
  /** For records of a build: their keys. Absent for a download, which has all that were admitted. */
  keys?: readonly number[]
}

/** The charge of a request, from before its work until its response was sent. */
export interface Charge {
  /** Whether the request has an Idempotency-Key: `settle` then needs hashes, except of a build. */
  readonly isRepeatable: boolean
  readonly repeats: Repeated | null
  /**
   * Charges the records of the response, and returns the charged number. A repeat is charged for fewer records, a
   * test key for none. Throws like `admit`, with exact budgets and limits, which must still cover all records that were
   * admitted. Call it last before the first byte.
   */
  settle(records: number, answered?: Answered): Promise<number>
  /**
   * Passes the rows of the response on. Request one piece after the other, each when the previous one is in
   * the socket. If they end in an error that the client did not cause, unsent records are refunded. A client
   * that lets a piece wait too long counts as disconnected.
   */
  deliver(rows: AsyncIterable<Delivery>): AsyncIterable<Buffer>
  /** Refunds the undelivered records, except those that a repeat has received. Never rejects. */
  refund(handed?: number): Promise<void>
}

export interface Delivery {
  readonly bytes: Buffer
  /** The number of records that end in this part. */
  readonly records: number
}

interface ChargeInput {
  caller: Caller
  chargedTo: ChargedTo
  recordsMax: number
  build: BuildPart | undefined
  idempotency: string | null
  repeats: Repeated | null
  signal: AbortSignal | undefined
}

interface ChargeDeps {
  ledger: Ledger
  /** Charges a response: at once, or after the charges of other builds of its audience are known. */
  write(
    charge: LedgerCharge,
    build: BuildPart | undefined,
  ): Promise<{ charged: number; refusal: Refusal | null }>
  now: () => number
  readerPatienceMs: number
}

/** Opens the charge of an admitted request: nothing is written before `settle`. */
export function openCharge(
  { ledger, write, now, readerPatienceMs }: ChargeDeps,
  { caller, chargedTo, recordsMax, build, idempotency, repeats, signal }: ChargeInput,
): Charge {
  let settled: LedgerCharge | null = null
  let refunded = Promise.resolve()
  const refund = (handed = 0) => {
    if (settled) refunded = ledger.refund({ ...settled, handed }, new Date(now()))
    settled = null
    return refunded
  }
  return {
    isRepeatable: idempotency !== null,
    repeats,
    async settle(records, answered = {}) {
      const { meter = chargedTo.meter } = answered
      if (signal?.aborted) throw new ClientDisconnected()
      if (records === 0) return 0
      const atMs = now()
      const ledgerCharge = chargeOf(
        caller,
        { ...chargedTo, meter },
        {
          records,
          atMs,
          idempotency,
          build,
          answered,
          // The unpaid records of a build are known before the read.
          recordsMax: build ? null : recordsMax,
        },
      )
      const { charged, refusal } = await write(ledgerCharge, build)
      if (refusal) throw refusalError(refusal, { ...chargedTo, meter, atMs })
      settled = ledgerCharge
      if (!signal?.aborted) return charged
      await refund()
      throw new ClientDisconnected()
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
        // Do not wait for the refund: the answer must break off now.
        if (!signal?.aborted && longestWaitMs < readerPatienceMs) void refund(handed)
        throw error
      }
    },
    refund,
  }
}

/** The charge of a test key: nothing. */
export const freeCharge: Charge = {
  isRepeatable: false,
  repeats: null,
  settle: async () => 0,
  async *deliver(rows) {
    for await (const { bytes } of rows) yield bytes
  },
  refund: async () => {},
}

function chargeOf(
  { requestId, forRequest = null, callerId }: Caller,
  { organizationId, projectId, isProjectKey, meter }: ChargedTo,
  {
    records,
    recordsMax,
    atMs,
    idempotency,
    build,
    answered: { window, hashes, keys },
  }: {
    records: number
    recordsMax: number | null
    atMs: number
    idempotency: string | null
    build: BuildPart | undefined
    answered: Answered
  },
): LedgerCharge {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[meter]
  // Only with hashes or a build can a repeat be matched with the records of this charge.
  const canBeMatched = hashes !== undefined || build !== undefined
  return {
    request_id: requestId,
    for_request: forRequest,
    organization_id: organizationId,
    project_id: projectId,
    is_project_key: isProjectKey,
    caller_id: callerId,
    meter,
    records,
    records_max: recordsMax,
    at: new Date(atMs).toISOString(),
    idempotency: canBeMatched ? idempotency : null,
    micros_per_thousand: microsPerThousand,
    free_records: freeRecordsPerMonth,
    window_start_ms: window?.startMs ?? null,
    window_end_ms: window?.endMs ?? null,
    ...(build
      ? {
          kind: 'build',
          build_id: build.buildId,
          record_keys: keys ?? null,
          build_keys: keysOf(build),
        }
      : { kind: 'repeatable', record_hashes: hashes ?? null }),
  }
}
