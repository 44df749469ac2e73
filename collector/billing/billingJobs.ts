import type { Queue } from '../platform/jobs/queue.ts'
import type { WarnLog } from '../platform/log.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { deletePastAnswers } from './allowance.ts'
import { noteReachedBudgets } from './budgetNotices.ts'
import { noteReports, sendReports } from './reports.ts'
import type { TellStripe } from './stripe.ts'

interface BillingJobsDeps {
  postgres: Postgres
  /** Null: nothing is reported to Stripe. */
  tell: TellStripe | null
  now: () => number
  log: WarnLog
}

/** Deletes requests whose repeats are no longer free, and charges of builds on past days. */
async function deleteExpiredRequests(postgres: Postgres, nowMs: number): Promise<void> {
  // Never waiting for a row: a charge that renews one may wait for another of these.
  await postgres.query(
    `DELETE FROM idempotent_charges WHERE (organization_id, idempotency, request_id) IN (
       SELECT organization_id, idempotency, request_id FROM idempotent_charges
       WHERE charged_at <= $1::timestamptz - interval '24 hours' FOR UPDATE SKIP LOCKED)`,
    [new Date(nowMs)],
  )
  // Charges of builds stay a day longer: a page from before midnight may end after it.
  await postgres.query(
    `DELETE FROM build_reads WHERE request_id IN (
       SELECT request_id FROM build_reads
       WHERE read_at <= $1::timestamptz - interval '48 hours' FOR UPDATE SKIP LOCKED)`,
    [new Date(nowMs)],
  )
  await postgres.query(
    `DELETE FROM build_charges WHERE (build_id, day) IN (
       SELECT build_id, day FROM build_charges
       WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date - 2 FOR UPDATE SKIP LOCKED)`,
    [new Date(nowMs)],
  )
  await postgres.query(
    `DELETE FROM build_carries WHERE (build_id, day, from_build_id) IN (
       SELECT build_id, day, from_build_id FROM build_carries
       WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date - 2 FOR UPDATE SKIP LOCKED)`,
    [new Date(nowMs)],
  )
}

/** Deletes expired requests, reports used budgets, and reports usage to Stripe. */
export const billingQueues = ({ postgres, tell, now, log }: BillingJobsDeps): Queue[] => [
  {
    name: 'billing.delete-expired',
    schedule: '* * * * *',
    run: () => deleteExpiredRequests(postgres, now()),
  },
  {
    name: 'billing.delete-past-answers',
    schedule: '10 * * * *',
    run: () => deletePastAnswers(postgres, now()),
  },
  {
    name: 'billing.budget-notices',
    schedule: '* * * * *',
    run: () => noteReachedBudgets(postgres, now()),
  },
  {
    name: 'billing.usage-reports',
    schedule: '* * * * *',
    async run() {
      if (!tell) return
      await noteReports(postgres, now())
      await sendReports(postgres, tell, now, log)
    },
  },
]
