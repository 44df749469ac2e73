import { setTimeout as delay } from 'node:timers/promises'
import type { Goal } from '../../collector/analytics/goals.ts'
import { requestComparison } from '../../collector/events/query/sessions.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import type { Service } from '../harness/service.ts'
import { readStore } from './pages.ts'

/** The processor time that ClickHouse has used, in milliseconds. */
export async function processorMs(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rows<{ ms: number }>({
    sql: "SELECT sum(value) / 1000 AS ms FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'",
    params: {},
  })
  return row!.ms
}

/** Waits until the service's job has hits of all events, also of those that were inserted behind what it had read. */
export async function untilCounted(clickhouse: ClickHouse, service: Service): Promise<void> {
  const postgres = openPostgres(readStore(service).postgresUrl, () => {})
  await requestComparison(postgres)
  await postgres.end()
  const waiting = async () => {
    const [row] = await clickhouse.rows<{ waiting: number }>({
      sql: "SELECT (SELECT count() FROM events WHERE source = 'pixel') - (SELECT count() FROM hits) AS waiting",
      params: {},
    })
    return row!.waiting
  }
  while ((await waiting()) !== 0) await delay(1_000)
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
