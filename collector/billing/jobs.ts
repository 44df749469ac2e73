import { repeat } from '../platform/jobs/repeat.ts'
import { unsentReports } from '../platform/metrics.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { noteReports, readUnsentReports, sendReports } from './reports.ts'
import type { TellStripe } from './stripe.ts'

const everyMs = 60_000

export interface BillingJobsOptions {
  postgres: Postgres
  /** Null: nothing is told to Stripe. */
  tell: TellStripe | null
  now: () => number
  log: { warn(message: string): void }
}

/**
 * What the primary process does for billing every minute: tells Stripe what was used, and forgets requests whose
 * repeats are not free any more. Several primaries may do it at once.
 */
export function startBillingJobs(options: BillingJobsOptions): { stop(): Promise<void> } {
  return repeat(
    everyMs,
    () => doChores(options),
    (error) => options.log.warn(`billing chores wait a minute: ${error.message}`),
  )
}

async function doChores({ postgres, tell, now, log }: BillingJobsOptions): Promise<void> {
  // Never waiting for a row: a charge that renews one may wait for another of these.
  await postgres.query(
    `DELETE FROM idempotent_charges WHERE (organization_id, idempotency, request_id) IN (
       SELECT organization_id, idempotency, request_id FROM idempotent_charges
       WHERE charged_at <= $1::timestamptz - interval '24 hours' FOR UPDATE SKIP LOCKED)`,
    [new Date(now())],
  )
  if (!tell) return
  await noteReports(postgres, now())
  await sendReports(postgres, tell, now, log)
  unsentReports.set((await readUnsentReports(postgres, now())).length)
}
