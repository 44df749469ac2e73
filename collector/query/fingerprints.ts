import type { ClickHouse } from '../platform/clickhouse/client.ts'
import { promptly } from './promptly.ts'
import { dateOf } from './window.ts'

/** SQL: the fingerprint of `events` and `ids` that were combined in parts. */
export const fingerprintOfRows = "concat(toString(sum(events)), ' ', toString(groupBitXor(ids)))"

/**
 * The fingerprint of each day's events of some projects: their number, and their ids combined. Days without events have
 * none. A projection answers it (014_audiences.sql), so that no event is read.
 */
export async function readFingerprints(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectIds: readonly string[],
  fromDay: number,
  toDay: number,
): Promise<ReadonlyMap<number, string>> {
  const rows = await clickhouse.rows<{ day_number: number; fingerprint: string }>({
    sql: `SELECT toUInt32(day) AS day_number,
            ${fingerprintOfRows} AS fingerprint
          FROM (
            SELECT toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS day, count() AS events,
              groupBitXor(cityHash64(event_id)) AS ids
            FROM events
            WHERE project_id IN {projectIds:Array(UUID)}
              AND toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) BETWEEN toDate({from:String}) AND toDate({to:String})
            GROUP BY project_id, toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC'))
          )
          GROUP BY day
          SETTINGS ${promptly}`,
    params: { projectIds, from: dateOf(fromDay), to: dateOf(toDay) },
  })
  return new Map(rows.map(({ day_number, fingerprint }) => [day_number, fingerprint]))
}
