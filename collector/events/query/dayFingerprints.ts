import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { hourMs } from './window.ts'

/** SQL: the hour of an event since 1970, with the expression of the projection. */
export const hourOfEvent = `intDiv(ts_millis, ${hourMs})`

/** SQL of the parts of fingerprints, for events grouped by hour: a projection contains them. */
export const fingerprintColumns = 'count() AS events, groupBitXor(cityHash64(event_id)) AS ids'

/** SQL: the fingerprint from `events` and `ids` of several parts. */
export const fingerprintOfRows = "concat(toString(sum(events)), ' ', toString(groupBitXor(ids)))"

/**
 * The fingerprints of events by day or hour since 1970 (UTC): the number of events and a combination of their
 * ids. Days and hours without events have none.
 */
export interface DayFingerprints {
  readonly days: ReadonlyMap<number, string>
  readonly hours: ReadonlyMap<number, string>
  /** Hours of days before this one are not returned, even if they have events. */
  readonly hoursFromDay: number
}

/**
 * Reads the fingerprints of some projects: of days from `fromDay` to `toDay`, both inclusive, and of hours
 * from `hoursFromDay` on. It reads no events.
 */
export async function readDayFingerprints(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectIds: readonly string[],
  fromDay: number,
  toDay: number,
  hoursFromDay = toDay + 1,
): Promise<DayFingerprints> {
  const rows = await clickhouse.rows<{ of: 'day' | 'hour'; number: number; fingerprint: string }>({
    sql: `SELECT part.1 AS of, toUInt32(part.2) AS number, ${fingerprintOfRows} AS fingerprint
          FROM (
            SELECT ${hourOfEvent} AS hour, ${fingerprintColumns}
            FROM events
            WHERE project_id IN {projectIds:Array(UUID)}
              AND ${hourOfEvent} >= {fromHour:Int64} AND ${hourOfEvent} < {endHour:Int64}
            GROUP BY project_id, ${hourOfEvent}
          )
          ARRAY JOIN arrayFilter(part -> part.1 = 'day' OR hour >= {hoursFrom:Int64},
            [('day', intDiv(hour, 24)), ('hour', hour)]) AS part
          GROUP BY part`,
    params: {
      projectIds,
      fromHour: fromDay * 24,
      endHour: (toDay + 1) * 24,
      hoursFrom: hoursFromDay * 24,
    },
  })
  const of = (wanted: 'day' | 'hour') =>
    new Map(
      rows
        .filter((row) => row.of === wanted)
        .map(({ number, fingerprint }) => [number, fingerprint]),
    )
  return { days: of('day'), hours: of('hour'), hoursFromDay }
}
