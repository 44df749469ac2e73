/** Finds days whose hits differ from their events, after deletions, restored events or a run that was cut off. */
import { dayFingerprintsSql } from '../../events/query/dayFingerprints.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import { type Arrived, rebuildDay } from './rebuildHits.ts'

interface ProjectDays {
  project_id: string
  /** Days since 1970, UTC. */
  days: number[]
}

const dayOfRow = `toUInt32(intDiv(ts_millis, ${dayMs}))`

/**
 * Builds the days again whose hits are not those of the events that arrived. `signal`
 * ends it between two days; the next comparison goes on.
 */
export async function compareHits(
  clickhouse: ClickHouse,
  arrived: Arrived,
  signal: AbortSignal,
): Promise<void> {
  // Almost all events are in a projection. New ones make a day differ as well, so it is looked at again, event by event.
  const suspected = await differingDays(clickhouse, dayFingerprintsSql("source = 'pixel'"), 'true')
  for (const { project_id: projectId, days } of suspected) {
    if (signal.aborted) return
    const isOfDays = `project_id = {projectId:UUID} AND ${dayOfRow} IN {days:Array(UInt32)}`
    const [differing] = await differingDays(
      clickhouse,
      `SELECT project_id, ${dayOfRow} AS day, count() AS events, groupBitXor(cityHash64(event_id)) AS ids FROM events
       WHERE source = 'pixel' AND ${isOfDays} AND received_at <= fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC')
       GROUP BY project_id, day`,
      isOfDays,
      { projectId, days, untilMs: arrived.appendedMs },
    )
    const found = (differing?.days ?? []).sort((a, b) => a - b)
    for (const day of found) {
      if (signal.aborted) return
      // Sessions may go on in the two days after.
      for (const next of [day, day + 1, day + 2]) {
        if (next !== day && found.includes(next)) break
        await rebuildDay(clickhouse, projectId, next, arrived)
      }
    }
  }
}

/**
 * The days on which hits that meet a condition have another fingerprint than events: `fingerprints` is SQL of theirs, as
 * dayFingerprintsSql. Hits have the low 32 bits of the hash of an event's id.
 */
const differingDays = (
  clickhouse: ClickHouse,
  fingerprints: string,
  isOfHits: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<ProjectDays[]> =>
  clickhouse.rows<ProjectDays>({
    sql: `SELECT project_id, groupArray(day) AS days
          FROM (
            SELECT project_id, day FROM (
              SELECT project_id, day, events, toUInt32(ids) AS low_ids FROM (${fingerprints})
              UNION ALL
              SELECT project_id, ${dayOfRow} AS day, count() AS events, groupBitXor(event_key) AS low_ids FROM hits
              WHERE ${isOfHits} GROUP BY project_id, day
            )
            GROUP BY project_id, day
            HAVING count() != 2 OR min(events) != max(events) OR min(low_ids) != max(low_ids)
          )
          GROUP BY project_id`,
    params,
  })
