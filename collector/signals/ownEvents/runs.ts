import type { ClickHouse } from '../../platform/clickhouse/client.ts'

/** What of a day's events was counted last. */
export interface Run {
  /** Since 1970 (UTC). */
  readonly day: number
  readonly fingerprint: string
}

/** YYYY-MM-DD of a day since 1970. */
export const dateOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10)

/** The organizations of which days were counted. */
export async function readCountedOrganizations(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ organization_id: string }>({
    sql: 'SELECT DISTINCT organization_id FROM intent_event_runs',
    params: {},
  })
  return rows.map(({ organization_id }) => organization_id)
}

/** The runs that count, of the days from `fromDay` on. */
export const readRuns = (clickhouse: ClickHouse, organizationId: string, fromDay: number): Promise<Run[]> =>
  clickhouse.rows<Run>({
    sql: `SELECT toUInt32(date) AS day, fingerprint FROM intent_event_runs FINAL
          WHERE organization_id = {organizationId:UUID} AND date >= toDate({from:String}) ORDER BY day`,
    params: { organizationId, from: dateOf(fromDay) },
  })

/** From now on a run's rows are those that count of these days. */
export async function noteRuns(
  clickhouse: ClickHouse,
  organizationId: string,
  runId: string,
  runs: readonly Run[],
): Promise<void> {
  await clickhouse.command({
    sql: `INSERT INTO intent_event_runs (organization_id, date, run_id, fingerprint)
          SELECT {organizationId:UUID}, toDate(run.1), {runId:UUID}, run.2
          FROM (SELECT arrayJoin(arrayZip({dates:Array(String)}, {fingerprints:Array(String)})) AS run)`,
    params: {
      ...{ organizationId, runId, dates: runs.map(({ day }) => dateOf(day)) },
      fingerprints: runs.map(({ fingerprint }) => fingerprint),
    },
  })
}

/**
 * The fingerprint of each day's events of some projects: their number, and their ids combined. A projection answers it
 * (014_audiences.sql), so that no event is read.
 */
export async function readEventFingerprints(
  clickhouse: ClickHouse,
  projectIds: readonly string[],
  fromDay: number,
  toDay: number,
): Promise<ReadonlyMap<number, string>> {
  const rows = await clickhouse.rows<{ day_number: number; fingerprint: string }>({
    sql: `SELECT toUInt32(day) AS day_number,
            concat(toString(sum(events)), ' ', toString(groupBitXor(ids))) AS fingerprint
          FROM (
            SELECT toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS day, count() AS events,
              groupBitXor(cityHash64(event_id)) AS ids
            FROM events
            WHERE project_id IN {projectIds:Array(UUID)}
              AND toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) BETWEEN toDate({from:String}) AND toDate({to:String})
            GROUP BY project_id, toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC'))
          )
          GROUP BY day`,
    params: { projectIds, from: dateOf(fromDay), to: dateOf(toDay) },
  })
  return new Map(rows.map(({ day_number, fingerprint }) => [day_number, fingerprint]))
}
