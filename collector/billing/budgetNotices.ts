import { mailOwners } from '../platform/outbox/mails.ts'
import { emit } from '../platform/outbox/outbox.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../platform/postgres/transaction.ts'
import { currency } from './prices.ts'
import { wholeOrganization } from './usageQuery.ts'

const thresholds = [50, 80, 100]

interface Notice {
  organization_id: string
  project_id: string
  /** First day of the month, YYYY-MM-DD. */
  month: string
  threshold: number
  monthly_micros: number
  spent_micros: number
}

/** SQL: budgets with this month's spending. The organization's budget has the project id wholeOrganization. */
const spending = `
  SELECT organization_id, project_id, monthly_micros, coalesce((
    SELECT sum(amount_micros) FROM usage_totals AS totals
    WHERE totals.organization_id = budget.organization_id AND totals.project_id = budget.project_id
      AND period = 'month' AND starts = $1::date), 0) AS spent_micros
  FROM (
    SELECT organization_id, $2::uuid AS project_id, monthly_micros FROM billing_accounts
    UNION ALL
    SELECT organization_id, project_id, monthly_micros FROM project_budgets JOIN projects USING (project_id)
  ) AS budget WHERE monthly_micros > 0`

const noticesSql = `
  , noted AS (
    INSERT INTO budget_notices (organization_id, project_id, month, threshold)
    SELECT organization_id, project_id, $1::date, threshold FROM reached ON CONFLICT DO NOTHING
    RETURNING organization_id, project_id, threshold
  )
  SELECT organization_id, project_id, $1::text AS month, threshold, monthly_micros::float8 AS monthly_micros,
    spent_micros::float8 AS spent_micros
  FROM noted JOIN reached USING (organization_id, project_id, threshold) ORDER BY threshold`

/** Sends a notice for each threshold that a budget has reached, once a month. */
export async function noteReachedBudgets(postgres: Postgres, nowMs: number): Promise<void> {
  await inTransaction(postgres, async (client) => {
    const { rows } = await client.query<Notice>(
      `WITH reached AS (
         SELECT spending.*, threshold FROM (${spending}) AS spending, unnest($3::int[]) AS threshold
         WHERE spent_micros * 100 >= monthly_micros * threshold
       ) ${noticesSql}`,
      [monthOf(nowMs), wholeOrganization, thresholds],
    )
    await tell(client, rows)
  })
}

/** Sends the 100 % notice when a budget refuses a request, because spending seldom equals the budget exactly. */
export async function noteUsedUpBudget(
  postgres: Postgres,
  organizationId: string,
  /** Null: the organization's own. */
  projectId: string | null,
  nowMs: number,
): Promise<void> {
  await inTransaction(postgres, async (client) => {
    const { rows } = await client.query<Notice>(
      `WITH reached AS (
         SELECT spending.*, 100 AS threshold FROM (${spending}) AS spending
         WHERE organization_id = $3 AND project_id = coalesce($4::uuid, $2) AND NOT EXISTS (
           SELECT FROM budget_notices AS notice WHERE notice.organization_id = $3
             AND notice.project_id = coalesce($4::uuid, $2) AND month = $1::date AND threshold = 100)
       ) ${noticesSql}`,
      [monthOf(nowMs), wholeOrganization, organizationId, projectId],
    )
    await tell(client, rows)
  })
}

const monthOf = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 7)}-01`

/** Emits an event for each threshold, and mails the highest one of each budget. */
async function tell(client: Queryable, notices: readonly Notice[]): Promise<void> {
  const highest = new Map(
    notices.map((notice) => [`${notice.organization_id} ${notice.project_id}`, notice]),
  )
  for (const notice of notices) {
    const {
      organization_id: organizationId,
      threshold,
      month,
      monthly_micros,
      spent_micros,
    } = notice
    const projectId = notice.project_id === wholeOrganization ? undefined : notice.project_id
    await emit(client, {
      organizationId,
      ...(projectId && { projectId }),
      type: 'budget.reached',
      data: {
        budget: projectId ? 'project' : 'organization',
        project_id: projectId ?? null,
        month: month.slice(0, 7),
        threshold,
        monthly_micros,
        spent_micros,
        currency,
      },
    })
  }
  for (const {
    organization_id,
    project_id,
    threshold,
    monthly_micros,
    spent_micros,
  } of highest.values()) {
    const whose =
      project_id === wholeOrganization ? 'your organization' : `the project ${project_id}`
    await mailOwners(client, organization_id, {
      subject: `${threshold} % of the budget reached`,
      text:
        `The budget of ${whose} for this month is ${dollars(monthly_micros)}. You have spent ${dollars(spent_micros)}.\n` +
        (threshold === 100
          ? 'Until the month ends, billed requests are answered with status 402.\n'
          : ''),
    })
  }
}

const dollars = (micros: number): string =>
  `${(micros / 1_000_000).toFixed(2)} ${currency.toUpperCase()}`
