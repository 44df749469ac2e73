/** Builds hits again from events: of a day, or of some visitors. */

import { restMs } from '../../events/query/sessionSplit.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import { appendHitsSql, deleteHitsSql, eventsMax } from './appendHits.ts'

/** Visitors of projects, and the time from which their hits are built again. */
interface RebuiltVisitors {
  readonly projectIds: readonly string[]
  readonly cookieIds: readonly string[]
  /** Epoch milliseconds. */
  readonly fromMs: number
}

/** Events that have hits, and the hosts that start no session (readTransitHosts). */
export interface Arrived {
  /** The last arrival, epoch milliseconds. */
  readonly appendedMs: number
  readonly transitHosts: readonly string[]
}

/**
 * Builds the hits of these projects again, from all their events, at most so many at once. For stores without the job
 * (keepHits.ts).
 */
export const rebuildHits = (
  clickhouse: ClickHouse,
  projectIds: readonly string[],
  atOnce = eventsMax,
): Promise<void> =>
  rebuild(
    clickhouse,
    { sql: 'project_id IN {projectIds:Array(UUID)}', params: { projectIds } },
    { atOnce },
  )

/** Builds the hits of a project's UTC day (since 1970) again, from events that arrived until `appendedMs`. */
export const rebuildDay = (
  clickhouse: ClickHouse,
  projectId: string,
  day: number,
  { appendedMs, transitHosts }: Arrived,
): Promise<void> =>
  rebuild(
    clickhouse,
    {
      sql: 'project_id IN {projectIds:Array(UUID)} AND ts_millis >= {fromMs:Int64} AND ts_millis < {endMs:Int64}',
      params: { projectIds: [projectId], fromMs: day * dayMs, endMs: (day + 1) * dayMs },
    },
    { appendedMs, transitHosts },
  )

/** Builds the hits of visitors again; one who is known to several of the projects, in each of them. */
export const rebuildVisitors = (
  clickhouse: ClickHouse,
  { projectIds, cookieIds, fromMs }: RebuiltVisitors,
  { appendedMs, transitHosts }: Arrived,
): Promise<void> =>
  rebuild(
    clickhouse,
    {
      sql: 'project_id IN {projectIds:Array(UUID)} AND ts_millis >= {fromMs:Int64} AND cookie_id IN {cookieIds:Array(UUID)}',
      params: { projectIds, cookieIds, fromMs },
    },
    { appendedMs, transitHosts },
  )

/** Rebuilds the rows that meet a condition, which is the same over hits and events. */
async function rebuild(
  clickhouse: ClickHouse,
  { sql, params }: Query,
  { appendedMs, transitHosts = [], atOnce = eventsMax }: Partial<Arrived> & { atOnce?: number },
): Promise<void> {
  const [found] = await clickhouse.rows<{ hits: number; events: number }>({
    sql: `SELECT (SELECT count() FROM hits WHERE ${sql}) AS hits, (SELECT count() FROM events WHERE ${sql}) AS events`,
    params,
  })
  if (found!.hits > 0) await clickhouse.command({ sql: deleteHitsSql(sql), params })
  const hasArrived =
    appendedMs === undefined
      ? ''
      : " AND received_at <= fromUnixTimestamp64Milli({appendedMs:Int64}, 'UTC')"
  const before =
    'fromMs' in params
      ? `project_id IN {projectIds:Array(UUID)} AND ts_millis >= {fromMs:Int64} - ${restMs} AND ts_millis < {fromMs:Int64}`
      : 'false'
  // All events of a visitor are in one part.
  const parts = Math.ceil(found!.events / atOnce)
  const isInPart = parts > 1 ? ' AND cityHash64(cookie_id) % {parts:UInt32} = {part:UInt32}' : ''
  for (let part = 0; part < parts; part++)
    await clickhouse.command({
      sql: appendHitsSql({ isNew: `${sql}${hasArrived}${isInPart}`, isBefore: before }),
      params: {
        ...params,
        transitHosts,
        ...(appendedMs !== undefined && { appendedMs }),
        ...(parts > 1 && { parts, part }),
      },
    })
}
