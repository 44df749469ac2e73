import type { Postgres } from '../platform/postgres/pool.ts'
import type { Meter } from './meters.ts'
import type { UsageCounts, UsageWindow } from './usageQuery.ts'

/** The reader: an API key, a member with a session or a token, or a scheduled export. */
type CallerKind = 'key' | 'member' | 'export'

interface CallerUsage extends UsageCounts {
  caller_id: string
  /** Null: the key, member or export was deleted. */
  kind: CallerKind | null
  name: string | null
  /** Of a key. */
  key_prefix: string | null
  meter: Meter
}

/** Reads the usage by caller and meter, sorted by amount, highest first. */
export async function readUsageByCaller(
  postgres: Postgres,
  { organizationId, projectId, startDate, endDate }: UsageWindow,
): Promise<CallerUsage[]> {
  const { rows } = await postgres.query<CallerUsage>(
    `SELECT caller_id, meter, records, free_records, amount_micros, key_prefix,
       CASE WHEN keys.key_id IS NOT NULL THEN 'key' WHEN members.member_id IS NOT NULL THEN 'member'
         WHEN exports.export_id IS NOT NULL THEN 'export' END AS kind,
       coalesce(keys.name, members.name, members.email, exports.name) AS name
     FROM (
       SELECT caller_id, meter, sum(records)::float8 AS records, sum(free_records)::float8 AS free_records,
         sum(amount_micros)::float8 AS amount_micros
       FROM usage_by_caller
       WHERE organization_id = $1 AND day BETWEEN $3 AND $4 AND ($2::uuid IS NULL OR project_id = $2)
       GROUP BY caller_id, meter HAVING sum(records) > 0
     ) AS usage
     LEFT JOIN api_keys AS keys ON keys.key_id = caller_id AND keys.organization_id = $1
     LEFT JOIN members ON members.member_id = caller_id AND members.organization_id = $1
     LEFT JOIN exports ON exports.export_id = caller_id
     ORDER BY amount_micros DESC, records DESC, caller_id, meter`,
    [organizationId, projectId, startDate, endDate],
  )
  return rows
}
