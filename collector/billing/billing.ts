import { busy } from '../api/http/errors.ts'
import type { ErrorLog } from '../platform/log.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { ttlCache } from '../platform/ttlCache.ts'
import {
  type Admission,
  admitRecords,
  type Caller,
  idempotencyOf,
  mayRepeat,
  readRepeated,
  refusalOfAnyNumber,
} from './admission.ts'
import { type BuildPart, carryKeys, isFree } from './buildPart.ts'
import { type Charge, freeCharge, openCharge } from './charge.ts'
import { type LedgerCharge, openLedger } from './ledger.ts'
import { type Look, recordLook } from './looks.ts'
import type { Meter } from './meters.ts'

export interface Usage {
  meter: Meter
  /**
   * Further meters, one of which the rows may choose. Budgets and limits must cover each: otherwise a refusal would
   * reveal which one the rows have chosen.
   */
  otherMeters?: readonly Meter[]
  /** The project whose records are read; null for records of several projects or of none. */
  projectId: string | null
  /**
   * Maximum number of records, known before the read: `limit`, `page_size` or the items. Budgets and limits
   * must cover all of them. A refusal after the read would reveal their number for free.
   */
  recordsMax: number
  /**
   * Whether `recordsMax` depends on a billed number. A refusal then does not say which budget or limit this number
   * exceeds: several of them together would reveal it.
   */
  isNumberSold?: boolean
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
   * "platform_cap_exceeded".
   */
  admit(caller: Caller, usage: Usage): Promise<Charge>
  /** Refunds charged records of a build that a job did not deliver. Never rejects. */
  refundBuildRead(read: {
    requestId: string
    organizationId: string
    buildId: string
    keys: readonly number[]
  }): Promise<void>
  /** Records in the audit log that the service will show identities to a member. */
  recordLook(request: Parameters<typeof recordLook>[1], look: Look): Promise<void>
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
      const { meter, otherMeters = [], projectId, recordsMax, isNumberSold = false } = usage
      const { build, signal } = usage
      const { organizationId } = caller
      if (caller.mode === 'test') return freeCharge
      const admission: Admission = {
        organizationId,
        projectId: caller.projectId ?? projectId,
        isProjectKey: caller.projectId !== null,
        meter,
        recordsMax,
      }
      const admissions = [meter, ...otherMeters].map((meter) => ({ ...admission, meter }))
      const idempotency = idempotencyOf(caller, projectId)
      const repeats =
        idempotency === null ? null : await readRepeated(postgres, admission, idempotency, now())
      const vague = (error: unknown) =>
        isNumberSold ? refusalOfAnyNumber(postgres, admission, error, now()) : error
      let isCovered = true
      try {
        for (const asked of admissions) await admitted(JSON.stringify(asked))
      } catch (error) {
        if (
          !mayRepeat(repeats) &&
          !(await isFree(postgres, organizationId, build, idempotency, now()))
        )
          throw await vague(error)
        isCovered = false
      }

      return openCharge(
        {
          ledger,
          write,
          now,
          readerPatienceMs,
          admitAgain: async () => {
            for (const asked of admissions) await admitRecords(postgres, asked, now())
          },
          vague,
        },
        {
          caller,
          chargedTo: admission,
          isCovered,
          hasOtherMeters: otherMeters.length > 0,
          build,
          idempotency,
          repeats,
          signal,
        },
      )
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

/** Maximum number of times that a charge carries over concurrent charges of the audience's other builds. */
const carriesMax = 50
