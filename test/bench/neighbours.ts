import { randomUUID } from 'node:crypto'
import { newApiCredentials, storeApiKey } from '../../collector/accounts/keys/apiKeys.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { ask } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import { makeEvents } from './events.ts'
import { hourMs, pageThroughApi, readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median } from './stats.ts'

/** Heavy on purpose: filters into the payload over everything there is. */
const heavyFilter = Array.from(
  { length: 20 },
  (_, index) => `event_data.viewport.k${index}:ne:x`,
).join(',')
const scansAtOnce = 4
const pagesEach = 40

/** How much slower a customer's pages are while another customer's heavy counts run, four at once. */
export const neighbours = (bench: Bench): Promise<Row> =>
  withService(async (service) => {
    const store = readStore(service)
    const newestMs = Date.now() - 60_000
    const made = {
      rows: bench.sizes.events,
      newestMs,
      spanMs: 23 * hourMs,
      cookie: 'number % 100000',
    }
    await makeEvents(store, service.demo, made)
    const other = await neighbour(service)
    const clickhouse = openClickHouse(store.url, store.database)
    await copyEvents(clickhouse, service.demo.organization_id, other)
    await clickhouse.close()

    const alone: number[] = []
    const beside: number[] = []
    const measure = async (times: number[]) => {
      for (let page = 0; page < pagesEach; page++) {
        times.push((await pageThroughApi(service, 'web_event', newestMs)).ms)
      }
    }
    await measure([])
    let counts = 0
    for (let repeat = 0; repeat < bench.repeats; repeat++) {
      await measure(alone)
      let isOver = false
      const scans = Array.from({ length: scansAtOnce }, async () => {
        while (!isOver) {
          await heavyCount(service, other.headers, newestMs)
          counts++
        }
      })
      await measure(beside)
      isOver = true
      await Promise.all(scans)
    }
    const ratio = median(beside) / median(alone)
    return {
      what: 'a page beside another customer’s heavy counts ÷ alone, p50',
      value: ratio.toFixed(2),
      target: '≤ 1.5',
      detail: `${median(beside).toFixed(1)} ms ÷ ${median(alone).toFixed(1)} ms; ${counts} counts of ${bench.sizes.events} events`,
    }
  })

interface Neighbour {
  organizationId: string
  projectId: string
  headers: Record<string, string>
}

/** Another organization with a key. */
async function neighbour(service: Service): Promise<Neighbour> {
  const postgres = openPostgres(readStore(service).postgresUrl, () => {})
  const [organizationId, projectId] = [randomUUID(), randomUUID()]
  await postgres.query('INSERT INTO organizations (organization_id, name) VALUES ($1, $2)', [
    organizationId,
    'Heavy',
  ])
  await postgres.query(
    'INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, $3)',
    [projectId, organizationId, 'Heavy'],
  )
  const credentials = newApiCredentials('live')
  await storeApiKey(postgres, { organizationId, projectId: null }, 'live', 'bench', credentials)
  await postgres.end()
  const headers = { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }
  return { organizationId, projectId, headers }
}

/** Gives the neighbour the same events. */
const copyEvents = (
  clickhouse: ClickHouse,
  from: string,
  { organizationId, projectId }: Neighbour,
) =>
  clickhouse.command({
    sql: `INSERT INTO events (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data,
            cookie_id, client_ip, page_url, device_type, received_at, spool_id, seq)
          SELECT {organizationId:UUID}, {projectId:UUID}, pixel_id, event_id, event_type, ts_millis, event_data,
            cookie_id, client_ip, page_url, device_type, received_at, spool_id, seq
          FROM events WHERE organization_id = {from:UUID}`,
    params: { organizationId, projectId, from },
  })

async function heavyCount(
  service: Service,
  headers: Record<string, string>,
  endMs: number,
): Promise<void> {
  const query = new URLSearchParams({
    start_ms: String(endMs - 24 * hourMs),
    end_ms: String(endMs + 1),
    filter: heavyFilter,
  })
  const answer = await ask(service, `/api/v3/events/web_event/counts?${query}`, headers)
  if (!answer.ok && answer.status !== 503)
    throw new Error(`counts: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
