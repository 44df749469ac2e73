/** Finds days whose hits differ from their events, after deletions, restored events or a run that was cut off. */

import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs, hourMs } from '../../platform/days.ts'
import { type Arrived, rebuildDay } from './rebuildHits.ts'

interface ProjectDays {
  project_id: string
  /** Days since 1970, UTC. */
  days: number[]
}

const dayOf = (ms: string) => `toUInt32(intDiv(${ms}, ${dayMs}))`
/** SQL of a fingerprint of events: their number, and the low bits of the hashes of their ids, which hits have. */
const fingerprint = (key: string) => `(count(), toUInt32(groupBitXor(${key})))`

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
  const suspected = await differingDays(
    clickhouse,
    `SELECT project_id, toUInt32(intDiv(hour, 24)) AS day, (sum(events), toUInt32(groupBitXor(ids))) AS fingerprint
     FROM (SELECT project_id, intDiv(ts_millis, ${hourMs}) AS hour, source, count() AS events, groupBitXor(cityHash64(event_id)) AS ids
           FROM events WHERE source = 'pixel' GROUP BY project_id, hour, source)
     GROUP BY project_id, day`,
    'true',
  )
  for (const { project_id: projectId, days } of suspected) {
    if (signal.aborted) return
    const isOfDays = `project_id = {projectId:UUID} AND ${dayOf('ts_millis')} IN {days:Array(UInt32)}`
    const [differing] = await differingDays(
      clickhouse,
      `SELECT project_id, ${dayOf('ts_millis')} AS day, ${fingerprint('cityHash64(event_id)')} AS fingerprint FROM events
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

/** The days on which hits that meet a condition have another fingerprint than `events`, SQL of project_id, day and fingerprint. */
const differingDays = (
  clickhouse: ClickHouse,
  events: string,
  isOfHits: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<ProjectDays[]> =>
  clickhouse.rows<ProjectDays>({
    sql: `SELECT project_id, groupArray(day) AS days
          FROM (
            SELECT project_id, day FROM (
              ${events}
              UNION ALL
              SELECT project_id, ${dayOf('ts_millis')} AS day, ${fingerprint('event_key')} AS fingerprint FROM hits WHERE ${isOfHits} GROUP BY project_id, day
            )
            GROUP BY project_id, day
            HAVING count() != 2 OR uniqExact(fingerprint) != 1
          )
          GROUP BY project_id`,
    params,
  })
