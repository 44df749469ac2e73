/** Repairs the sessions of events that came late: behind a later event of their visitor, or long after they happened. */
import { dayMs, hourMs } from '../../events/query/window/window.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { rebuildVisitors } from './rebuildHits.ts'

/** Events that arrive within this time are appended at once. Older ones, such as imports, would read many more hits. */
export const freshMs = 2 * hourMs
/** SQL over rows of events. */
export const isFresh = `ts_millis >= toUnixTimestamp64Milli(received_at) - ${freshMs}`
/** SQL over rows of events and hits: those that arrived after `fromMs`, until `untilMs`. */
export const receivedIn =
  "received_at > fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC') AND received_at <= fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC')"

/** Repairs end after this time, so that new events are appended in between. */
const repairingMs = 20_000
/** Old events of more visitors of a project are an import, whose days are compared and built as a whole. */
const visitorsMax = 5_000

interface LateVisitors {
  project_id: string
  is_old: boolean
  is_import: boolean
  cookie_ids: string[]
  /** The first day, since 1970, UTC. */
  day: number
}

/**
 * Repairs the sessions of events that arrived in this time (epoch milliseconds). `signal` ends it between two statements.
 * Resolves with the events that it left: old ones are for a comparison, late ones for the next repair.
 */
export async function repairHits(
  clickhouse: ClickHouse,
  fromMs: number,
  untilMs: number,
  signal: AbortSignal,
): Promise<'late events' | 'old events' | null> {
  const endAt = performance.now() + repairingMs
  const late = await clickhouse.rows<LateVisitors>({
    sql: `SELECT project_id, is_old, is_old AND uniqExact(cookie_id) > ${visitorsMax} AS is_import, toUInt32(intDiv(min(ts_millis), ${dayMs})) AS day,
            if(is_import, [], groupUniqArray(cookie_id)) AS cookie_ids
          FROM (
            SELECT project_id, cookie_id, ts_millis, true AS is_old FROM events WHERE source = 'pixel' AND ${receivedIn} AND NOT (${isFresh})
            UNION ALL
            SELECT project_id, cookie_id, ts_millis, false FROM hits WHERE is_late AND ${receivedIn}
          )
          GROUP BY project_id, is_old
          ORDER BY is_old`,
    params: { fromMs, untilMs },
  })
  let hasLeftOld = false
  for (const { project_id: projectId, is_old, is_import, cookie_ids, day } of late) {
    if (is_import) hasLeftOld = true
    for (const cookieIds of is_import ? [] : chunked(cookie_ids)) {
      if (signal.aborted || (!is_old && performance.now() > endAt)) return 'late events'
      if (performance.now() > endAt) return 'old events'
      await rebuildVisitors(clickhouse, { projectId, cookieIds, fromMs: day * dayMs }, untilMs)
    }
  }
  return hasLeftOld ? 'old events' : null
}
