/**
 * Fingerprints of days: the number of their events, and the ids of the events combined. They differ after late events,
 * erasures and retention. No event is read, because the projection `by_hour` has the counts of hours.
 */
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { hourMs } from '../../platform/days.ts'

/** SQL: the hour of an event since 1970, with the expression of the projection. */
const hourOfEvent = `intDiv(ts_millis, ${hourMs})`

/**
 * Returns SQL of fingerprints over rows of events that meet a condition: `project_id`, `day` (UTC, since 1970), `events`
 * and `ids`.
 */
export const dayFingerprintsSql = (condition: string): string =>
  `SELECT project_id, toUInt32(intDiv(hour, 24)) AS day, sum(hour_events) AS events, groupBitXor(hour_ids) AS ids
   FROM (SELECT project_id, ${hourOfEvent} AS hour, source, count() AS hour_events, groupBitXor(cityHash64(event_id)) AS hour_ids
         FROM events WHERE ${condition} GROUP BY project_id, hour, source)
   GROUP BY project_id, day`

/**
 * Reads the fingerprints of the events of some projects together by day, from `fromDay` to `toDay`, both inclusive. Days
 * without events have none.
 */
export async function readDayFingerprints(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectIds: readonly string[],
  fromDay: number,
  toDay: number,
): Promise<ReadonlyMap<number, string>> {
  const condition = `project_id IN {projectIds:Array(UUID)} AND ${hourOfEvent} >= {fromHour:Int64} AND ${hourOfEvent} < {endHour:Int64}`
  const rows = await clickhouse.rows<{ day: number; fingerprint: string }>({
    sql: `SELECT day, concat(toString(sum(events)), ' ', toString(groupBitXor(ids))) AS fingerprint
          FROM (${dayFingerprintsSql(condition)})
          GROUP BY day`,
    params: { projectIds, fromHour: fromDay * 24, endHour: (toDay + 1) * 24 },
  })
  return new Map(rows.map(({ day, fingerprint }) => [day, fingerprint]))
}
