import { type Actor, audit } from '../api/access/audit.ts'
import { invalidParameter, notFound } from '../api/http/errors.ts'
import { changesOf } from '../api/http/optimisticLock.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../platform/postgres/transaction.ts'
import type { Meter } from './meters.ts'
import { currency } from './prices.ts'
import { wholeOrganization } from './usageQuery.ts'

/** Maximum cost of a calendar month (UTC). */
export interface Budget {
  /** Null: the whole organization. */
  project_id: string | null
  monthly_micros: number
}

/** Most records of a meter, for the whole organization; null: any number. */
export interface UsageLimit {
  meter: Meter
  daily_records: number | null
  monthly_records: number | null
}

export interface LimitsState {
  currency: typeof currency
  shut_off: boolean
  budgets: (Budget & {
    spent_micros: number
    alerts: { threshold: number; reached_at: string }[]
  })[]
  limits: (UsageLimit & { used_today: number; used_this_month: number })[]
}

/** The organization's budgets and limits, with their current use. */
export async function readLimits(
  postgres: Postgres,
  organizationId: string,
  nowMs: number,
): Promise<LimitsState> {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const month = `${today.slice(0, 7)}-01`
  const ofOrganization =
    'usage_totals WHERE organization_id = $1 AND project_id = $4 AND usage_totals.meter = limits.meter'
  const [account, budgets, limits] = await Promise.all([
    postgres.query<{ shut_off: boolean }>(
      'SELECT shut_off_at IS NOT NULL AS shut_off FROM billing_accounts WHERE organization_id = $1',
      [organizationId],
    ),
    postgres.query<LimitsState['budgets'][number]>(
      `SELECT project_id, monthly_micros::float8 AS monthly_micros,
         (SELECT coalesce(sum(amount_micros), 0)::float8 FROM usage_totals AS totals
          WHERE totals.organization_id = $1 AND totals.project_id = coalesce(budgets.project_id, $3)
            AND period = 'month' AND starts = $2) AS spent_micros,
         (SELECT coalesce(jsonb_agg(jsonb_build_object('threshold', threshold,
              'reached_at', to_char(noted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY threshold), '[]')
          FROM budget_notices AS notice
          WHERE notice.organization_id = $1 AND notice.project_id = coalesce(budgets.project_id, $3)
            AND month = $2) AS alerts
       FROM (SELECT NULL::uuid AS project_id, monthly_micros FROM billing_accounts
             WHERE organization_id = $1 AND monthly_micros IS NOT NULL
             UNION ALL
             SELECT project_id, monthly_micros FROM project_budgets JOIN projects USING (project_id)
             WHERE organization_id = $1) AS budgets
       ORDER BY project_id NULLS FIRST`,
      [organizationId, month, wholeOrganization],
    ),
    postgres.query<LimitsState['limits'][number]>(
      `SELECT meter, daily_records::float8 AS daily_records, monthly_records::float8 AS monthly_records,
         coalesce((SELECT records FROM ${ofOrganization} AND period = 'day' AND starts = $2), 0)::float8
           AS used_today,
         coalesce((SELECT records FROM ${ofOrganization} AND period = 'month' AND starts = $3), 0)::float8
           AS used_this_month
       FROM usage_limits AS limits WHERE organization_id = $1 ORDER BY meter`,
      [organizationId, today, month, wholeOrganization],
    ),
  ])
  return {
    currency,
    shut_off: account.rows[0]?.shut_off ?? false,
    budgets: budgets.rows,
    limits: limits.rows,
  }
}

interface AllLimits {
  budgets: readonly Budget[]
  limits: readonly UsageLimit[]
}

/** Sets all budgets and limits of the actor's organization, and records who did. Throws 400 and 404 "project not found". */
export async function replaceLimits(
  postgres: Postgres,
  actor: Actor,
  { budgets, limits }: AllLimits,
): Promise<void> {
  const { organizationId } = actor
  refuseRepeats(
    'budgets',
    budgets.map(({ project_id }) => project_id),
  )
  refuseRepeats(
    'limits',
    limits.map(({ meter }) => meter),
  )
  const ofProjects = budgets.filter(({ project_id }) => project_id !== null)
  const ofOrganization = budgets.find(({ project_id }) => project_id === null)

  await inTransaction(postgres, async (client) => {
    const before = await readSet(client, organizationId)
    // The row that charges lock: they see all of this, or nothing.
    await client.query(
      `INSERT INTO billing_accounts (organization_id, monthly_micros) VALUES ($1, $2)
       ON CONFLICT (organization_id) DO UPDATE SET monthly_micros = excluded.monthly_micros`,
      [organizationId, ofOrganization?.monthly_micros ?? null],
    )
    await client.query(
      `DELETE FROM project_budgets USING projects
       WHERE projects.project_id = project_budgets.project_id AND organization_id = $1`,
      [organizationId],
    )
    const { rowCount } = await client.query(
      `INSERT INTO project_budgets
         SELECT project_id, monthly_micros FROM projects
         JOIN jsonb_to_recordset($2) AS given (project_id uuid, monthly_micros bigint) USING (project_id)
         WHERE organization_id = $1`,
      [organizationId, JSON.stringify(ofProjects)],
    )
    if (rowCount !== ofProjects.length) throw notFound.project()
    await client.query('DELETE FROM usage_limits WHERE organization_id = $1', [organizationId])
    await client.query(
      `INSERT INTO usage_limits
         SELECT $1, meter, daily_records, monthly_records
         FROM jsonb_to_recordset($2) AS given (meter text, daily_records bigint, monthly_records bigint)`,
      [organizationId, JSON.stringify(limits)],
    )
    const after = await readSet(client, organizationId)
    const object = { kind: 'organization', id: organizationId } as const
    await audit(client, actor, 'organization.limits', object, changesOf(before, after))
  })
}

/** The stored limits in a fixed order, so that two states can be compared. */
async function readSet(client: Queryable, organizationId: string): Promise<AllLimits> {
  const { rows } = await client.query<AllLimits>(
    `SELECT
       (SELECT coalesce(jsonb_agg(budget ORDER BY budget), '[]') FROM (
          SELECT jsonb_build_object('project_id', NULL, 'monthly_micros', monthly_micros) AS budget
          FROM billing_accounts WHERE organization_id = $1 AND monthly_micros IS NOT NULL
          UNION ALL
          SELECT jsonb_build_object('project_id', project_id, 'monthly_micros', monthly_micros)
          FROM project_budgets JOIN projects USING (project_id) WHERE organization_id = $1) AS set) AS budgets,
       (SELECT coalesce(jsonb_agg(to_jsonb(usage_limits) - 'organization_id' ORDER BY meter), '[]')
        FROM usage_limits WHERE organization_id = $1) AS limits`,
    [organizationId],
  )
  return rows[0]!
}

function refuseRepeats(parameter: string, names: readonly (string | null)[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) {
    throw invalidParameter(parameter, `names ${repeated ?? 'the organization'} twice`)
  }
}
