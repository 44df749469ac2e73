/** Repairs the sessions of events that came late: behind a later event of their visitor, or long after they happened. */

import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs, hourMs } from '../../platform/days.ts'
import { type Arrived, rebuildVisitors } from './rebuildHits.ts'

/** Events that arrive within this time are appended at once. Older ones, such as imports, would read many more hits. */
export const freshMs = 2 * hourMs
/** SQL over rows of events. */
export const isFresh = `ts_millis >= toUnixTimestamp64Milli(received_at) - ${freshMs}`
/** SQL over rows of events and hits: those that arrived after `fromMs`, until `untilMs`. */
export const receivedIn =
  "received_at > fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC') AND received_at <= fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC')"

/** Repairs end after this time, so that new events are appended in between. */
const repairingMs = 20_000
/** Old events of more visitors are an import, whose days are compared and built as a whole. */
const visitorsMax = 5_000
/** Visitors that are built again at once. */
const visitorsAtOnce = 1_000

interface Repaired {
  project_id: string
  cookie_id: string
  /** The day of the visitor's first such event, since 1970, UTC. */
  day: number
}

/**
 * Repairs the sessions of events that arrived after `fromMs`, epoch milliseconds. `signal` ends it between two statements.
 * Resolves with the events that it left: old ones are for a comparison, late ones for the next repair.
 */
export async function repairHits(
  clickhouse: ClickHouse,
  fromMs: number,
  arrived: Arrived,
  signal: AbortSignal,
): Promise<'late events' | 'old events' | null> {
  const untilMs = arrived.appendedMs
  const endAt = performance.now() + repairingMs
  const isOver = () => signal.aborted || performance.now() > endAt
  const visitorsOf = (events: string, limit: number): Promise<Repaired[]> =>
    clickhouse.rows<Repaired>({
      sql: `SELECT project_id, cookie_id, toUInt32(intDiv(min(ts_millis), ${dayMs})) AS day FROM ${events} AND ${receivedIn}
            GROUP BY project_id, cookie_id ORDER BY day DESC LIMIT {limit:UInt32}`,
      params: { fromMs, untilMs, limit },
    })
  const repair = (visitors: readonly Repaired[]): Promise<void> =>
    rebuildVisitors(
      clickhouse,
      {
        projectIds: [...new Set(visitors.map(({ project_id }) => project_id))],
        cookieIds: [...new Set(visitors.map(({ cookie_id }) => cookie_id))],
        fromMs: Math.min(...visitors.map(({ day }) => day)) * dayMs,
      },
      arrived,
    )
  const old = await visitorsOf(
    `events WHERE source = 'pixel' AND NOT (${isFresh})`,
    visitorsMax + 1,
  )
  const isImport = old.length > visitorsMax
  let left = isImport ? [] : old
  for (; left.length > 0 && !isOver(); left = left.slice(visitorsAtOnce))
    await repair(left.slice(0, visitorsAtOnce))
  // Hits that are built again are late no more.
  for (;;) {
    const late = await visitorsOf('hits WHERE is_late', visitorsAtOnce)
    if (late.length === 0) break
    if (isOver()) return 'late events'
    await repair(late)
  }
  return isImport || left.length > 0 ? 'old events' : null
}
