import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type TimeZone, utc } from '../../platform/timeZone.ts'
import { bindings } from './bind.ts'
import { dayOfSql, startOfDay } from './window/localDays.ts'
import { hourMs } from './window/window.ts'

/** SQL: the hour of an event since 1970, with the expression of the projection. */
export const hourOfEvent = `intDiv(ts_millis, ${hourMs})`

/** SQL of the parts of fingerprints, for events grouped by hour: a projection contains them. */
export const fingerprintColumns = 'count() AS events, groupBitXor(cityHash64(event_id)) AS ids'

/** SQL: the fingerprint from `events` and `ids` of several parts. */
export const fingerprintOfRows = "concat(toString(sum(events)), ' ', toString(groupBitXor(ids)))"

/**
 * The fingerprints of events by local day and by UTC hour, numbered since 1970. A fingerprint combines the number of
 * events and their ids. Days and hours without events have none. A day that begins within an hour includes all
 * events of this hour.
 */
export interface DayFingerprints {
  readonly days: ReadonlyMap<number, string>
  readonly hours: ReadonlyMap<number, string>
  /** Hours of days before this one are not returned, even if they have events. */
  readonly hoursFromDay: number
}

/**
 * The fingerprints of the events of some projects: of days from `fromDay` to `toDay`, both inclusive, and of the hours
 * of those from `hoursFromDay` on. No event is read. Days are of UTC unless a zone is given.
 */
export async function readDayFingerprints(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectIds: readonly string[],
  fromDay: number,
  toDay: number,
  hoursFromDay = toDay + 1,
  zone: TimeZone = utc,
): Promise<DayFingerprints> {
  const { bind, params } = bindings()
  const hourAt = (day: number) => startOfDay(day, zone) / hourMs
  const window = { startMs: hourAt(fromDay - 1) * hourMs, endMs: hourAt(toDay + 2) * hourMs }
  const dayAt = (ms: string) => dayOfSql(ms, zone, window, bind)
  // A day may begin within an hour, which then counts for two days.
  const days = `arrayDistinct([${dayAt(`hour * ${hourMs}`)}, ${dayAt(`(hour * ${hourMs} + ${hourMs - 1})`)}])`
  const rows = await clickhouse.rows<{ of: 'day' | 'hour'; number: number; fingerprint: string }>({
    sql: `SELECT part.1 AS of, toUInt32(part.2) AS number, ${fingerprintOfRows} AS fingerprint
          FROM (
            SELECT ${hourOfEvent} AS hour, ${fingerprintColumns}
            FROM events
            WHERE project_id IN {projectIds:Array(UUID)}
              AND ${hourOfEvent} >= {fromHour:Int64} AND ${hourOfEvent} < {endHour:Int64}
            GROUP BY project_id, ${hourOfEvent}
          )
          ARRAY JOIN arrayConcat(
            arrayMap(day -> ('day', day), arrayFilter(day -> day BETWEEN {fromDay:Int64} AND {toDay:Int64}, ${days})),
            if(hour >= {hoursFrom:Int64}, [('hour', hour)], [])) AS part
          GROUP BY part`,
    params: {
      ...params,
      projectIds,
      fromDay,
      toDay,
      fromHour: Math.floor(hourAt(fromDay)),
      endHour: Math.ceil(hourAt(toDay + 1)),
      hoursFrom: Math.floor(hourAt(hoursFromDay)),
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
