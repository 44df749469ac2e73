import { setTimeout as delay } from 'node:timers/promises'
import type { Goal } from '../../collector/analytics/goals.ts'
import { eventsWorthCounting, readStaleProjects } from '../../collector/analytics/rollup/runs.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import type { Service } from '../harness/service.ts'

const dayMs = 86_400_000

/** The processor time that ClickHouse has used, in milliseconds. */
export async function processorMs(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rows<{ ms: number }>({
    sql: "SELECT sum(value) / 1000 AS ms FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'",
    params: {},
  })
  return row!.ms
}

/** How many of the last `days` complete days have enough events to be counted. */
export async function countableDays(clickhouse: ClickHouse, days = 365): Promise<number> {
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const [row] = await clickhouse.rows<{ found: number }>({
    sql: `SELECT count() AS found FROM (
            SELECT 1 FROM events WHERE ts_millis >= {from:Int64} AND ts_millis < {today:Int64}
            GROUP BY intDiv(ts_millis, ${dayMs}) HAVING count() >= {eventsMin:UInt32})`,
    params: { from: today - days * dayMs, today, eventsMin: eventsWorthCounting.day },
  })
  return row!.found
}

/**
 * Waits until the service's job has counted the sessions of this many of the last `days` days. With `isAll` it waits
 * until nothing is left to count, also the hours of today.
 */
export async function untilCounted(
  clickhouse: ClickHouse,
  projectId: string,
  countable: number,
  { days = 365, isAll = true }: { days?: number; isAll?: boolean } = {},
): Promise<void> {
  const stale = async () =>
    isAll && (await readStaleProjects(clickhouse, Date.now())).includes(projectId)
  for (let counted = 0; counted < countable || (await stale()); await delay(5_000)) {
    const [row] = await clickhouse.rows<{ counted: number }>({
      sql: `SELECT count() AS counted FROM analytics_runs FINAL
            WHERE project_id = {projectId:UUID} AND of = 'session_rows' AND hour = 0 AND fingerprint != '' AND date >= today() - {days:UInt32}`,
      params: { projectId, days },
    })
    counted = row!.counted
  }
}

/** Sets the goals of the demo project. */
export async function addGoals(
  { url, demo: { project_id, api_key, api_secret } }: Service,
  goals: readonly Goal[],
): Promise<void> {
  const answer = await fetch(new URL('/api/v1/analytics/goals', url), {
    method: 'PUT',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ project_id, goals }),
  })
  if (!answer.ok) throw new Error(`the goals were answered ${answer.status} ${await answer.text()}`)
}
