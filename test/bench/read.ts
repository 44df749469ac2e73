import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openClickHouse } from '../../collector/clickhouse/client.ts'
import type { Demo } from '../../collector/demo/demo.ts'
import { eventsQuery } from '../../collector/events/eventsQuery.ts'
import { readEventsRequest } from '../../collector/events/plan.ts'
import { chrome } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import { record, replay, send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median } from './stats.ts'

const rows = 1_000_000
const hours = 24
const pageRows = 1_000
const pagesPerRepeat = 60
const warmUpPages = 20
const hourMs = 3_600_000

/** A page of 1,000 events through the API ÷ the same SQL straight from ClickHouse over HTTP, p50. */
export function read({ repeats, log }: Bench): Promise<Row> {
  return withService(async (service) => {
    const store = readStore(service)
    const newestMs = Date.now()
    log(`making ${rows} events`)
    await makeEvents(store, service.demo, newestMs)

    const measured: { api: number; direct: number }[] = []
    for (let page = 0; page < warmUpPages + repeats * pagesPerRepeat; page++) {
      // Pages lie all over the day, the same for both sides; who goes first takes turns, for the second finds the
      // data in the page cache.
      const endMs = newestMs - ((page * 7919) % (hours - 2)) * hourMs
      const apiFirst = page % 2 === 0
      const before = apiFirst ? await readThroughApi(service, endMs) : Number.NaN
      const direct = await readDirectly(store, service.demo, endMs)
      const api = apiFirst ? before : await readThroughApi(service, endMs)
      if (page >= warmUpPages) measured.push({ api, direct })
    }
    const api = median(measured.map((one) => one.api))
    const direct = median(measured.map((one) => one.direct))
    return {
      what: `page of ${pageRows} events ÷ same SQL from ClickHouse, p50`,
      value: (api / direct).toFixed(2),
      target: '≤ 1.15',
      detail: `${api.toFixed(1)} ÷ ${direct.toFixed(1)} ms, ${measured.length} pages of ${rows} events`,
    }
  })
}

interface Store {
  url: string
  database: string
  postgresUrl: string
}

/** Where the service's stores are, as the service notes it for commands that are run beside it. */
export function readStore({ dataDir }: Service): Store {
  const facts = JSON.parse(readFileSync(join(dataDir, 'stores.json'), 'utf8')) as Record<string, string>
  return {
    url: facts.clickhouse_url!,
    database: facts.clickhouse_database!,
    postgresUrl: facts.postgres_url!,
  }
}

export async function makeEvents(
  { url, database }: Store,
  demo: Demo,
  newestMs: number,
  count = rows,
): Promise<void> {
  const clickhouse = openClickHouse(url, database)
  await clickhouse.command({
    sql: `
      INSERT INTO events (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data,
        cookie_id, user_agent, referrer_url, client_ip, page_url, page_host, page_path, browser, browser_version, os,
        os_version, device_type, is_bot, received_at, spool_id, seq)
      SELECT {organization:UUID}, {project:UUID}, {pixel:UUID}, generateUUIDv4(number),
        ['page_view', 'click', 'scroll_depth'][number % 3 + 1] AS type,
        {newest:Int64} - intDiv(number * {span:Int64}, {rows:Int64}) AS ts,
        concat('{"url":"https://shop.example/p/', toString(number % 500), '","title":"Pot ', toString(number % 500),
          '","referrer":null,"screen":{"height":1080,"width":1920},"viewport":{"height":947,"width":1903}}'),
        reinterpretAsUUID(sipHash128(number % 50000)), {userAgent:String}, NULL, '203.0.113.7',
        concat('https://shop.example/p/', toString(number % 500)), 'shop.example',
        concat('/p/', toString(number % 500)), 'Chrome', '140.0.0.0', 'Linux', NULL, 'desktop', false,
        fromUnixTimestamp64Milli(ts, 'UTC'), generateUUIDv4(), number
      FROM numbers({rows:Int64})`,
    params: {
      organization: demo.organization_id,
      project: demo.project_id,
      pixel: demo.pixel_id,
      newest: newestMs,
      span: hours * hourMs,
      rows: count,
      userAgent: chrome,
    },
  })
  await clickhouse.command({ sql: 'OPTIMIZE TABLE events FINAL', params: {} })
  await clickhouse.close()
}

const queryOf = (demo: Demo, endMs: number) => ({
  project_id: demo.project_id,
  start_ms: String(endMs - hours * hourMs),
  end_ms: String(endMs),
  limit: String(pageRows),
})

/** Milliseconds until the last byte. */
async function readThroughApi(service: Service, endMs: number): Promise<number> {
  const { api_key, api_secret } = service.demo
  const query = new URLSearchParams(queryOf(service.demo, endMs))
  const address = new URL(`/api/v3/events/web_event?${query}`, service.url)
  const startedAt = performance.now()
  const body = await send(address, 'GET', { 'x-api-key': api_key, 'x-api-secret': api_secret })
  const ms = performance.now() - startedAt
  const { meta } = JSON.parse(body.toString()) as { meta?: { records: number } }
  if (meta?.records !== pageRows) throw new Error(`a page has ${meta?.records} rows`)
  return ms
}

/** Milliseconds until the last byte. */
async function readDirectly({ url, database }: Store, demo: Demo, endMs: number): Promise<number> {
  const { plan } = readEventsRequest({ query: queryOf(demo, endMs), headers: {} }, 'web_event', endMs)
  const scope = {
    ...{ organizationId: demo.organization_id, projectId: demo.project_id },
    ...{ pixelId: null, campaignId: null },
  }
  const request = await record(url, database, (clickhouse) =>
    clickhouse.stream(eventsQuery({ ...plan, scope }), 'JSONEachRow'),
  )
  const startedAt = performance.now()
  const body = await replay(url, request)
  const ms = performance.now() - startedAt
  const lines = body.toString().trimEnd().split('\n').length
  // One more than the page, by which the API knows that there are more.
  if (lines !== pageRows + 1) throw new Error(`ClickHouse answered ${lines} rows`)
  return ms
}
