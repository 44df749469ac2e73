import type { WarnLog } from '../platform/log.ts'
import { unsentReports } from '../platform/metrics.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import type { TellStripe } from './stripe.ts'
import { wholeOrganization } from './usageQuery.ts'

/** Stripe accepts usage that is at most 35 days old. */
const oldestDays = 34
/** Stripe remembers an identifier for a day. A report that may have arrived is not sent again later. */
const sureHours = 23
/** Longer than a try can take. After this time the process that claimed a report has died. */
const claimSeconds = 60
const firstRetrySeconds = 5
const longestRetrySeconds = 3_600

const reportsLock = 7_306_005

/**
 * Records the usage to report to Stripe, for each organization with a customer there, each meter and month.
 * It is the number of records beyond the free allowance, minus those recorded earlier. A later refund reduces
 * the next report.
 */
export async function noteReports(postgres: Postgres, nowMs: number): Promise<void> {
  await inTransaction(postgres, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [reportsLock])
    await client.query(
      `WITH due AS (
         SELECT totals.organization_id, totals.meter, starts AS month,
           totals.records - totals.free_records - coalesce(reported.records, 0) AS records
         FROM billing_accounts
         JOIN usage_totals AS totals USING (organization_id)
         LEFT JOIN reported_usage AS reported
           ON reported.organization_id = totals.organization_id AND reported.meter = totals.meter
             AND reported.month = totals.starts
         WHERE stripe_customer_id IS NOT NULL AND project_id = $3 AND period = 'month'
           AND starts > ($1::timestamptz AT TIME ZONE 'UTC') - make_interval(months => 1, days => $2)
       ), noted AS (
         INSERT INTO usage_reports (organization_id, meter, month, records, used_at, next_try_at)
           SELECT organization_id, meter, month, records,
             least($1::timestamptz, (month + interval '1 month' - interval '1 second') AT TIME ZONE 'UTC'), $1::timestamptz
           FROM due WHERE records > 0
       )
       INSERT INTO reported_usage AS reported SELECT * FROM due WHERE records > 0
       ON CONFLICT (organization_id, meter, month) DO UPDATE SET records = reported.records + excluded.records`,
      [new Date(nowMs), oldestDays, wholeOrganization],
    )
  })
}

interface ClaimedReport {
  report_id: string
  customer_id: string
  meter: string
  records: string
  used_at: Date
  tries: number
  was_unsure: boolean
}

/** Sends due reports one after another, because Stripe accepts one at a time for a customer's meter. */
export async function sendReports(
  postgres: Postgres,
  tell: TellStripe,
  now: () => number,
  log: WarnLog,
): Promise<void> {
  for (;;) {
    const report = await claimReport(postgres, now())
    if (!report) return
    const answer = await tell({
      reportId: report.report_id,
      customerId: report.customer_id,
      meter: report.meter,
      records: Number(report.records),
      usedAt: report.used_at,
    })
    if (answer.result === 'taken') {
      await postgres.query(
        'UPDATE usage_reports SET sent_at = $2, last_error = NULL WHERE report_id = $1',
        [report.report_id, new Date(now())],
      )
      continue
    }
    log.warn({ meter: report.meter, reason: answer.reason }, 'Stripe rejected a report')
    const waitSeconds = Math.min(longestRetrySeconds, firstRetrySeconds * 2 ** (report.tries - 1))
    await postgres.query(
      `UPDATE usage_reports SET last_error = $2, next_try_at = $3,
         unsure_since = CASE WHEN $4 THEN unsure_since END WHERE report_id = $1`,
      [
        report.report_id,
        answer.reason,
        new Date(now() + waitSeconds * 1_000),
        answer.result === 'unsure' || report.was_unsure,
      ],
    )
    // Stripe is unavailable: the others wait until it is back.
    if (answer.result === 'unsure') return
  }
}

/** Takes the oldest report that is due. From here until the answer it is unknown whether Stripe has it. */
async function claimReport(postgres: Postgres, nowMs: number): Promise<ClaimedReport | undefined> {
  const { rows } = await postgres.query<ClaimedReport>(
    `UPDATE usage_reports AS report
     SET tries = report.tries + 1, unsure_since = coalesce(report.unsure_since, $1::timestamptz),
       next_try_at = $1::timestamptz + make_interval(secs => $3)
     FROM (SELECT report_id, unsure_since IS NOT NULL AS was_unsure, stripe_customer_id
           FROM usage_reports JOIN billing_accounts USING (organization_id)
           WHERE sent_at IS NULL AND next_try_at <= $1::timestamptz AND stripe_customer_id IS NOT NULL
             AND (unsure_since IS NULL OR unsure_since > $1::timestamptz - make_interval(hours => $2))
           ORDER BY used_at, report_id LIMIT 1 FOR UPDATE OF usage_reports SKIP LOCKED) AS due
     WHERE report.report_id = due.report_id
     RETURNING report.report_id, stripe_customer_id AS customer_id, meter, records, used_at, tries, was_unsure`,
    [new Date(nowMs), sureHours, claimSeconds],
  )
  return rows[0]
}

/** A report that Stripe has not accepted yet. */
interface UnsentReport {
  report_id: string
  organization_id: string
  meter: string
  records: string
  used_at: Date
  tries: number
  last_error: string | null
  /** It may have arrived, and Stripe would no longer recognise it: the operator must check it. */
  is_left: boolean
}

export async function readUnsentReports(
  postgres: Postgres,
  nowMs: number,
): Promise<UnsentReport[]> {
  const { rows } = await postgres.query<UnsentReport>(
    `SELECT report_id, organization_id, meter, records, used_at, tries, last_error,
       coalesce(unsure_since <= $1::timestamptz - make_interval(hours => $2), false) AS is_left
     FROM usage_reports WHERE sent_at IS NULL ORDER BY used_at, report_id`,
    [new Date(nowMs), sureHours],
  )
  return rows
}

export async function measureReports(postgres: Postgres): Promise<void> {
  unsentReports.set((await readUnsentReports(postgres, Date.now())).length)
}
