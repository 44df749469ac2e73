import { setTimeout as delay } from 'node:timers/promises'
import type { QueryConfig } from 'pg'
import { busy, NoAnswerPossible } from '../api/http/errors.ts'
import type { ErrorLog } from '../platform/log.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { isUnavailable } from '../platform/storeErrors.ts'
import type { Uncarried } from './buildPart.ts'
import type { Refusal } from './refusals.ts'

/** A response to charge, with the member names that charge_responses.sql reads. */
export type LedgerCharge = ChargedResponse & (RepeatableRecords | BuildRecords)

interface ChargedResponse {
  request_id: string
  /** The API request that the charge belongs to; null: `request_id`, or none. */
  for_request: string | null
  organization_id: string
  /** Owner of the usage. Null: only the organization. */
  project_id: string | null
  is_project_key: boolean
  caller_id: string
  meter: string
  /** At least 1. */
  records: number
  /** The records that were admitted and must still be covered, so that a refusal does not depend on the read. Null: `records`. */
  records_max: number | null
  /** ISO 8601; determines the day and the month of the usage. */
  at: string
  /** bytea in PostgreSQL's hex form; null for a request without Idempotency-Key. */
  idempotency: string | null
  micros_per_thousand: number
  free_records: number
  window_start_ms: number | null
  window_end_ms: number | null
}

/** Records that a repeat with the same Idempotency-Key may have for free. */
interface RepeatableRecords {
  kind: 'repeatable'
  /** Hashes of the records in the order of the response; see Answered. Null: a repeat is charged again. */
  record_hashes: readonly string[] | null
}

interface BuildRecords {
  kind: 'build'
  build_id: string
  /** The keys of the records. Null for a download, which has all of `build_keys`. */
  record_keys: readonly number[] | null
  /** An int8multirange of the keys that were admitted. */
  build_keys: string
}

type BrokenResponse = Pick<ChargedResponse, 'request_id' | 'organization_id' | 'idempotency'> &
  (RepeatableRecords | Pick<BuildRecords, 'kind' | 'record_keys'>) & {
    handed: number
  }

/** The outcome of a charge: the ledger has `charged` records, or none for the given reason. */
interface LedgerOutcome {
  charged: number
  refusal: Refusal | UncarriedRefusal | null
}

/** The caller must first carry over charges of the audience's other builds. */
interface UncarriedRefusal {
  kind: 'uncarried'
  builds: Uncarried
}

export interface Ledger {
  /**
   * Charges a response exactly once for each request_id. Throws 503 "busy" if nothing was charged. Throws
   * NoAnswerPossible if the result is unknown.
   */
  charge(charge: LedgerCharge): Promise<LedgerOutcome>
  /** Refunds the undelivered records of an aborted answer. Resolves when the refund is stored. */
  refund(broken: BrokenResponse, at: Date): Promise<void>
  /** Resolves when all refunds are written. */
  idle(): Promise<void>
}

const batchMax = 500
const retryMs = 100
const busySeconds = 2

/** Opens the ledger. Charges that arrive during a write share the next transaction. */
export function openLedger(postgres: Postgres, log: ErrorLog, patienceMs: number): Ledger {
  let waiting: Waiting[] = []
  let isWriting = false
  const refunds = new Set<Promise<void>>()

  const writeAll = async () => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax)
      waiting = waiting.slice(batchMax)
      await write(postgres, batch, patienceMs)
    }
    isWriting = false
  }

  return {
    charge: (charge) =>
      new Promise((resolve, reject) => {
        waiting.push({ charge, resolve, reject })
        if (!isWriting) void writeAll()
      }),
    refund(broken, at) {
      const { organization_id, request_id, idempotency, handed } = broken
      const refund = untilTaken(() =>
        broken.kind === 'repeatable'
          ? postgres.query('SELECT refund_response($1, $2, $3, $4, $5, $6)', [
              organization_id,
              request_id,
              idempotency,
              handed,
              broken.record_hashes?.slice(0, handed) ?? null,
              at,
            ])
          : postgres.query('SELECT refund_build_read($1, $2, $3, $4)', [
              organization_id,
              request_id,
              broken.record_keys,
              at,
            ]),
      )
        .catch((error: Error) =>
          log.error({ request_id, error: error.message }, 'a request cannot be refunded'),
        )
        .finally(() => refunds.delete(refund))
      refunds.add(refund)
      return refund
    },
    async idle() {
      await Promise.all(refunds)
    },
  }
}

interface Waiting {
  charge: LedgerCharge
  resolve(outcome: LedgerOutcome): void
  reject(error: unknown): void
}

/** Writes a batch and settles the promise of each charge; never rejects. */
async function write(
  postgres: Postgres,
  batch: readonly Waiting[],
  patienceMs: number,
): Promise<void> {
  try {
    const charges = batch.map(({ charge }) => charge)
    const outcomes = await sendUntilAnswered(postgres, charges, patienceMs)
    for (const { charge, resolve } of batch) resolve(outcomes.get(charge.request_id)!)
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

type Outcomes = Map<string, LedgerOutcome>

/** Sends a batch until PostgreSQL answers. A repeat finds the charges of an earlier try. */
async function sendUntilAnswered(
  postgres: Postgres,
  charges: readonly LedgerCharge[],
  patienceMs: number,
): Promise<Outcomes> {
  const deadline = Date.now() + patienceMs
  let isUnsure = false
  for (;;) {
    try {
      return await send(postgres, charges, patienceMs)
    } catch (error) {
      isUnsure ||= error instanceof Unanswered
      const mayPass = error instanceof Unanswered || isUnavailable(error)
      if (!mayPass || Date.now() > deadline) {
        if (isUnsure)
          throw new NoAnswerPossible(`the ledger did not answer: ${(error as Error).message}`)
        throw mayPass ? busy('The ledger is unavailable. Retry later.', busySeconds) : error
      }
      await delay(retryMs)
    }
  }
}

/** The statement was sent, and may have been carried out. */
class Unanswered extends Error {}

async function send(
  postgres: Postgres,
  charges: readonly LedgerCharge[],
  timeoutMs: number,
): Promise<Outcomes> {
  const client = await postgres.connect()
  let broken: Error | undefined
  try {
    const { rows } = await client.query<OutcomeRow>({
      name: 'charge_responses',
      text: 'SELECT charged_request_id, charged_records, refusal FROM charge_responses($1)',
      values: [JSON.stringify(charges)],
      query_timeout: timeoutMs,
      // The types know it of connections only.
    } as QueryConfig)
    return new Map(
      rows.map(({ charged_request_id, charged_records, refusal }) => [
        charged_request_id,
        { charged: Number(charged_records), refusal },
      ]),
    )
  } catch (error) {
    broken = error as Error
    // PostgreSQL rolled back if it reports an ERROR. Other failures may have occurred after the commit.
    throw (error as { severity?: unknown }).severity === 'ERROR'
      ? error
      : new Unanswered(broken.message)
  } finally {
    client.release(broken)
  }
}

interface OutcomeRow {
  charged_request_id: string
  charged_records: string
  refusal: LedgerOutcome['refusal']
}

async function untilTaken(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await delay(retryMs)
    }
  }
}
