import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { hourMs } from '../../platform/days.ts'

/** SQL: the hour of an event since 1970, with the expression of the projection. */
const hourOfEvent = `intDiv(ts_millis, ${hourMs})`

/**
 * The fingerprints of the events of some projects by UTC day (numbered since 1970), from `fromDay` to `toDay`, both
 * inclusive. A fingerprint combines the number of events and their ids. Days without events have none. No event is read,
 * because a projection has the counts of hours.
 */
export async function readDayFingerprints(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectIds: readonly string[],
  fromDay: number,
  toDay: number,
): Promise<ReadonlyMap<number, string>> {
  const rows = await clickhouse.rows<{ day: number; fingerprint: string }>({
    sql: `SELECT toUInt32(intDiv(hour, 24)) AS day,
            concat(toString(sum(events)), ' ', toString(groupBitXor(ids))) AS fingerprint
          FROM (
            SELECT ${hourOfEvent} AS hour, count() AS events, groupBitXor(cityHash64(event_id)) AS ids
            FROM events
            WHERE project_id IN {projectIds:Array(UUID)}
              AND ${hourOfEvent} >= {fromHour:Int64} AND ${hourOfEvent} < {endHour:Int64}
            GROUP BY project_id, ${hourOfEvent}
          )
          GROUP BY day`,
    params: { projectIds, fromHour: fromDay * 24, endHour: (toDay + 1) * 24 },
  })
  return new Map(rows.map(({ day, fingerprint }) => [day, fingerprint]))
}
