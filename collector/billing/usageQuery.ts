import type { Postgres } from '../platform/postgres/pool.ts'
import type { Meter } from './meters.ts'

/** Owner and days of the usage, both inclusive, YYYY-MM-DD in UTC. */
export interface UsageWindow {
  /** Null for a test key, which is never billed. */
  organizationId: string | null
  /** Null: the whole organization. */
  projectId: string | null
  startDate: string
  endDate: string
}

export interface UsageCounts {
  records: number
  free_records: number
  amount_micros: number
}

/** The value for the complete organization in usage_totals. */
export const wholeOrganization = '00000000-0000-0000-0000-000000000000'

// All sums fit a double: 2^53 micros are nine thousand million dollars.
const sums = `coalesce(sum(records), 0)::float8 AS records, coalesce(sum(free_records), 0)::float8 AS free_records,
  coalesce(sum(amount_micros), 0)::float8 AS amount_micros`
const ofWindow = `FROM usage_totals
  WHERE organization_id = $1 AND project_id = $2 AND period = 'day' AND starts BETWEEN $3 AND $4`

const valuesOf = ({ organizationId, projectId, startDate, endDate }: UsageWindow) => [
  organizationId,
  projectId ?? wholeOrganization,
  startDate,
  endDate,
]

export async function readUsage(postgres: Postgres, window: UsageWindow): Promise<UsageCounts> {
  const { rows } = await postgres.query<UsageCounts>(`SELECT ${sums} ${ofWindow}`, valuesOf(window))
  return rows[0]!
}

export async function readUsageByMeter(
  postgres: Postgres,
  window: UsageWindow,
): Promise<(UsageCounts & { meter: Meter })[]> {
  const { rows } = await postgres.query<UsageCounts & { meter: Meter }>(
    `SELECT meter, ${sums} ${ofWindow} GROUP BY meter ORDER BY meter`,
    valuesOf(window),
  )
  return rows
}

export async function readDailyUsage(
  postgres: Postgres,
  window: UsageWindow,
): Promise<(UsageCounts & { date: string; meter: Meter })[]> {
  const { rows } = await postgres.query<UsageCounts & { date: string; meter: Meter }>(
    `SELECT starts::text AS date, meter, ${sums} ${ofWindow} GROUP BY starts, meter ORDER BY starts, meter`,
    valuesOf(window),
  )
  return rows
}

export async function readUsageByProject(
  postgres: Postgres,
  { organizationId, projectId, startDate, endDate }: UsageWindow,
  meters: readonly Meter[],
): Promise<{ project_id: string; meter: Meter; records: number }[]> {
  const { rows } = await postgres.query<{ project_id: string; meter: Meter; records: number }>(
    `SELECT project_id, meter, sum(records)::float8 AS records FROM usage_totals
     WHERE organization_id = $1 AND project_id <> $2 AND ($3::uuid IS NULL OR project_id = $3)
       AND period = 'day' AND starts BETWEEN $4 AND $5 AND meter = ANY($6)
     GROUP BY project_id, meter HAVING sum(records) > 0 ORDER BY project_id, meter`,
    [organizationId, wholeOrganization, projectId, startDate, endDate, meters],
  )
  return rows
}
