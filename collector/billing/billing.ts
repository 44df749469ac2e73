import { createHash } from 'node:crypto'
import { busy } from '../api/http/errors.ts'
import type { ErrorLog } from '../platform/log.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { ttlCache } from '../platform/ttlCache.ts'
import { noteUsedUpBudget } from './budgetNotices.ts'
import { type BuildPart, carryKeys, countUnpaid } from './buildPart.ts'
import {
  type Caller,
  type Charge,
  type ChargedTo,
  freeCharge,
  openCharge,
  type Repeated,
} from './charge.ts'
import { type IdentityRead, recordIdentityRead } from './identityReads.ts'
import { type LedgerCharge, openLedger } from './ledger.ts'
import type { Meter } from './meters.ts'
import { defaultPrices } from './prices.ts'
import { type Refusal, refusalError } from './refusals.ts'

export interface Usage {
  meter: Meter
  /** Further meters, one of which the rows may choose. Budgets and limits must cover each. */
  otherMeters?: readonly Meter[]
  /** The project whose records are read; null for records of several projects or of none. */
  projectId: string | null
  /**
   * Maximum number of records, known before the read: `limit`, the items, or the records of a build. Budgets and limits
   * must cover all of them, except those of a build that are paid already. A refusal that depends on the read would be a
   * free answer, which a caller can tune by limits of its own.
   */
  recordsMax: number
  /** The part of an audience build that contains the records; absent for other records. */
  build?: BuildPart
  /** Aborted when the client disconnects. */
  signal?: AbortSignal
}

/**
 * Charges records before they are sent: those of an HTTP response (chargedRequest.ts), or those of a job. The
 * ledger stores the exact number of records before the first byte is sent. Errors, empty responses and test
 * keys are free. A client that disconnects after `settle` stays charged. If the service breaks off, it
 * refunds the records that it did not send. If the connection breaks before any response, the client can
 * repeat the request with the same Idempotency-Key. The repeat is free for 24 hours, for the records and the
 * meter of the first charge.
 */
export interface Billing {
  /**
   * Decides before the work whether the caller may have records. Throws 402 "budget_exceeded" and 429
   * "platform_cap_exceeded". Never refuses records that are known to be paid: those of a build that were charged today,
   * and a repeat with the same Idempotency-Key.
   */
  admit(caller: Caller, usage: Usage): Promise<Charge>
  /** Refunds charged records of a build that a job did not deliver. Never rejects. */
  refundBuildRead(read: {
    requestId: string
    organizationId: string
    keys: readonly number[]
  }): Promise<void>
  /** Records in the audit log that the service will show identities to a member. */
  recordIdentityRead(
    request: Parameters<typeof recordIdentityRead>[1],
    read: IdentityRead,
  ): Promise<void>
  /** Resolves when everything is written. */
  close(): Promise<void>
}

export interface BillingOptions {
  postgres: Postgres
  log: ErrorLog
  /** The time in milliseconds since 1970; it decides the day and the month. */
  now: () => number
  /** How long to try when PostgreSQL does not answer; default ten seconds. */
  patienceMs?: number
  /**
   * Time for which a piece may wait for its reader until the reader counts as disconnected. It is less than
   * the patience of ClickHouse. Default ten seconds.
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

  /** Charges a response after it has carried over the charges of the audience's other builds. */
  const write = async (ledgerCharge: LedgerCharge, build: BuildPart | undefined) => {
    for (let tries = 0; tries < carriesMax; tries++) {
      const { charged, refusal } = await ledger.charge(ledgerCharge)
      if (refusal?.kind !== 'uncarried') return { charged, refusal }
      const at = new Date(ledgerCharge.at)
      await carryKeys(postgres, ledgerCharge.organization_id, build!, refusal.builds, at)
    }
    throw busy('Another build of this audience is being charged now.', 1)
  }

  return {
    async admit(caller, usage) {
      const { meter, otherMeters = [], projectId, recordsMax, build, signal } = usage
      const { organizationId } = caller
      if (caller.mode === 'test') return freeCharge
      const chargedTo: ChargedTo = {
        organizationId,
        projectId: caller.projectId ?? projectId,
        isProjectKey: caller.projectId !== null,
        meter,
      }
      const idempotency = idempotencyOf(caller, projectId)
      const repeats =
        idempotency === null ? null : await readRepeated(postgres, chargedTo, idempotency, now())
      const unpaid = repeats
        ? 0
        : build
          ? await countUnpaid(postgres, organizationId, build, idempotency, now())
          : recordsMax
      if (unpaid > 0)
        for (const each of [meter, ...otherMeters])
          await admitted(JSON.stringify({ ...chargedTo, meter: each, recordsMax: unpaid }))

      return openCharge(
        { ledger, write, now, readerPatienceMs },
        { caller, chargedTo, recordsMax, build, idempotency, repeats, signal },
      )
    },
    refundBuildRead: ({ requestId, organizationId, keys }) =>
      ledger.refund(
        {
          request_id: requestId,
          organization_id: organizationId,
          idempotency: null,
          kind: 'build',
          record_keys: keys,
          handed: 0,
        },
        new Date(now()),
      ),
    recordIdentityRead: (request, read) => recordIdentityRead(postgres, request, read),
    close: () => ledger.idle(),
  }
}

/** Maximum number of times that a charge carries over concurrent charges of the audience's other builds. */
const carriesMax = 50

/** The input of an admission, and its cache key. */
interface Admission extends ChargedTo {
  /** Most records that the answer may have. */
  readonly recordsMax: number
}

/** Throws 402 or 429 if budgets and limits do not cover `recordsMax` more records. */
async function admitRecords(postgres: Postgres, admission: Admission, atMs: number): Promise<void> {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[admission.meter]
  const { rows } = await postgres.query<{ refusal: Refusal | null }>({
    name: 'consider_usage',
    text: 'SELECT refusal FROM consider_usage($1, $2, $3, $4, $5, $6, $7, $8)',
    values: [
      admission.organizationId,
      admission.projectId,
      admission.isProjectKey,
      admission.meter,
      admission.recordsMax,
      new Date(atMs),
      microsPerThousand,
      freeRecordsPerMonth,
    ],
  })
  const { refusal } = rows[0]!
  if (!refusal) return
  if (refusal.kind === 'budget') {
    const ofProject = refusal.of === 'project' ? admission.projectId : null
    await noteUsedUpBudget(postgres, admission.organizationId, ofProject, atMs)
  }
  throw refusalError(refusal, { ...admission, atMs })
}

/**
 * Identifies repeats of a request by a caller that read the same project: PostgreSQL's hex form of a sha256.
 * Null without one.
 */
export function idempotencyOf(
  { repeatOf }: Pick<Caller, 'repeatOf'>,
  projectId: string | null,
): string | null {
  if (!repeatOf) return null
  const text = JSON.stringify([...repeatOf, projectId])
  return `\\x${createHash('sha256').update(text).digest('hex')}`
}

/** Returns the charge for the same request with the same Idempotency-Key in the last 24 hours, or null. */
async function readRepeated(
  postgres: Postgres,
  { organizationId }: ChargedTo,
  idempotency: string,
  atMs: number,
): Promise<Repeated | null> {
  const { rows } = await postgres.query<{
    window_start_ms: string | null
    window_end_ms: string | null
  }>(
    `SELECT window_start_ms, window_end_ms FROM idempotent_charges
     WHERE organization_id = $1 AND idempotency = $2 AND record_hashes <> '{}'
       AND charged_at > $3::timestamptz - interval '24 hours'
     ORDER BY charged_at DESC, request_id DESC LIMIT 1`,
    [organizationId, idempotency, new Date(atMs)],
  )
  const [row] = rows
  if (!row) return null
  return {
    window:
      row.window_start_ms === null
        ? null
        : { startMs: Number(row.window_start_ms), endMs: Number(row.window_end_ms) },
  }
}
