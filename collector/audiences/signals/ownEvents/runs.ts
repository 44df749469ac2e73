import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import { dateOf } from '../../../platform/days.ts'

/** The last count of a day's events. */
export interface Run {
  /** Day since 1970 (UTC). */
  readonly day: number
  readonly fingerprint: string
}

export async function readCountedOrganizations(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ organization_id: string }>({
    sql: 'SELECT DISTINCT organization_id FROM intent_event_runs',
  })
  return rows.map(({ organization_id }) => organization_id)
}

/** Reads the valid runs of the days from `fromDay` on. */
export const readRuns = (
  clickhouse: ClickHouse,
  organizationId: string,
  fromDay: number,
): Promise<Run[]> =>
  clickhouse.rows<Run>({
    sql: `SELECT toUInt32(date) AS day, fingerprint FROM intent_event_runs FINAL
          WHERE organization_id = {organizationId:UUID} AND date >= toDate({from:String}) ORDER BY day`,
    params: { organizationId, from: dateOf(fromDay) },
  })

/** Makes a run the valid one of these days. */
export async function noteRuns(
  clickhouse: ClickHouse,
  organizationId: string,
  runId: string,
  runs: readonly Run[],
): Promise<void> {
  await clickhouse.command({
    sql: `INSERT INTO intent_event_runs (organization_id, date, run_id, fingerprint)
          SELECT {organizationId:UUID}, toDate(day), {runId:UUID}, fingerprint_of_day
          FROM system.one
          ARRAY JOIN {dates:Array(String)} AS day, {fingerprints:Array(String)} AS fingerprint_of_day`,
    params: {
      organizationId,
      runId,
      dates: runs.map(({ day }) => dateOf(day)),
      fingerprints: runs.map(({ fingerprint }) => fingerprint),
    },
  })
}
