import { setTimeout as delay } from 'node:timers/promises'
import { countedThings } from '../../collector/analytics/rollup/runs.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { wakeQueue } from '../../collector/platform/jobs/queue.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { ask, beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import { makeEvents } from './events.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

const dayMs = 86_400_000
/** Of the thirty days all but today. */
const daysOver = 29
const times = 20
const scannedTimes = 3
const lagTimes = 100
const dimensions = 'page_path,referrer_host,country,device_type,event_type,page_host'

/** Requests of the dashboard's overview of thirty days. */
const asked: Record<string, [path: string, query: Record<string, string>]> = {
  overview: ['overview', {}],
  'overview with bots': ['overview', { include_bots: 'true' }],
  timeseries: ['timeseries', { interval: 'day' }],
  breakdown: ['breakdown', { dimensions, limit: '8' }],
  'entry pages': ['breakdown', { dimensions: 'entry_page', limit: '8' }],
  live: ['live', {}],
}

/** Every event matches it, so that nothing is read from counts of days. */
const scanning = { filter: 'event_type:ne:video' }

/**
 * Time of the figures of thirty days through the API, with as many events as --events sets. They are measured
 * alone, with a reader who reads page after page, and without the counts of days. Also the time until an
 * event is in the live figures.
 */
export function dashboard({ sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const now = Date.now()
    const midnight = Math.floor(now / dayMs) * dayMs
    const store = readStore(service)
    log(`making ${sizes.events} events of ${sizes.cookies} visitors`)
    await makeEvents(store, service.demo, {
      rows: sizes.events,
      newestMs: now,
      spanMs: 30 * dayMs,
      cookie: `cityHash64(number) % ${sizes.cookies}`,
    })
    const clickhouse = openClickHouse(store.url, store.database)
    const { project_id } = service.demo
    const countedIn = await untilCounted(store.postgresUrl, clickhouse)
    const window = { start_ms: String(midnight - daysOver * dayMs), end_ms: String(now) }
    const addressOf = (path: string, query: Record<string, string>) =>
      `/api/v1/analytics/${path}?${new URLSearchParams({ project_id, ...(path === 'live' ? {} : window), ...query })}`
    const rows: Row[] = [
      {
        what: `analytics: counting ${daysOver} days, and the hours of them`,
        value: `${(countedIn / 1_000).toFixed(1)} s`,
        target: 'none: in the background, once',
        detail: await sizeOf(clickhouse),
      },
    ]
    const parts = `${sizes.events} events, ${sizes.cookies} visitors`
    for (const [name, [path, query]] of Object.entries(asked)) {
      const alone = await timesOf(service, addressOf(path, query), times)
      const beside = await besideReader(service, () =>
        timesOf(service, addressOf(path, query), times),
      )
      const scanned =
        path === 'live'
          ? []
          : await timesOf(service, addressOf(path, { ...query, ...scanning }), scannedTimes)
      rows.push(
        rowOf(`analytics/${name}, 30 days`, alone, parts),
        rowOf(`analytics/${name}, beside a reader of pages`, beside, parts),
        ...(scanned.length > 0
          ? [rowOf(`analytics/${name}, from the events`, scanned, parts, 'none')]
          : []),
      )
    }
    rows.push(await liveLag(service))
    await clickhouse.close()
    return rows
  })
}

/** Has the service count what is over, newest first; how long that took. */
async function untilCounted(postgresUrl: string, clickhouse: ClickHouse): Promise<number> {
  const before = performance.now()
  const postgres = openPostgres(postgresUrl, () => {})
  await wakeQueue(postgres, 'analytics.count-days')
  await postgres.end()
  const counted = async () => {
    const [found] = await clickhouse.rows<{ runs: number }>({
      sql: 'SELECT countIf(hour = 0) AS runs FROM analytics_runs FINAL',
      params: {},
    })
    return found!.runs
  }
  while ((await counted()) < countedThings.length * daysOver) await delay(200)
  return performance.now() - before
}

const rowOf = (
  what: string,
  taken: readonly number[],
  detail: string,
  target = '300 ms at 10 million events',
): Row => ({
  what: `${what}, p95`,
  target,
  value: `${Math.round(percentile(taken, 95))} ms`,
  detail: `p50 ${Math.round(percentile(taken, 50))} ms, ${taken.length} requests one after the other, ${detail}`,
})

async function timesOf(service: Service, address: string, requests: number): Promise<number[]> {
  const taken: number[] = []
  for (let n = 0; n < requests; n++) {
    const before = performance.now()
    await answerOf(service, address)
    taken.push(performance.now() - before)
  }
  return taken
}

async function answerOf<T>(service: Service, address: string): Promise<T> {
  const answer = await ask(service, address)
  if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

/** Does something while somebody reads pages of a thousand events, one after the other. */
async function besideReader<T>(service: Service, act: () => Promise<T>): Promise<T> {
  let isOver = false
  const reading = (async () => {
    while (!isOver) await answerOf(service, '/api/v3/events/web_event?limit=1000')
  })()
  try {
    return await act()
  } finally {
    isOver = true
    await reading
  }
}

/** From the answer that an event was accepted to the answer of the live figures that has it, asked without a pause. */
async function liveLag(service: Service): Promise<Row> {
  const { project_id } = service.demo
  const address = `/api/v1/analytics/live?${new URLSearchParams({ project_id, filter: 'event_type:eq:custom' })}`
  const eventsNow = async () => (await answerOf<{ events: number }>(service, address)).events
  const taken: number[] = []
  for (let n = 0; n < lagTimes; n++) {
    const before = await eventsNow()
    await postBeacon(service.url, beaconOf(service, [customEvent()]))
    const accepted = performance.now()
    while ((await eventsNow()) === before);
    taken.push(performance.now() - accepted)
  }
  return {
    what: 'live lag, p99',
    value: `${Math.round(percentile(taken, 99))} ms`,
    target: '2,000 ms',
    detail: `p50 ${Math.round(percentile(taken, 50))} ms, ${lagTimes} events, accepted until in the live figures; the page asks every 2 seconds`,
  }
}

/** Size of the counts on disk. */
async function sizeOf(clickhouse: ClickHouse): Promise<string> {
  const tables = await clickhouse.rows<{ table: string; size: string; rows: number }>({
    sql: `SELECT table, formatReadableSize(sum(bytes_on_disk)) AS size, sum(rows) AS rows FROM system.parts
      WHERE database = currentDatabase() AND active AND (table LIKE 'analytics_%' OR table = 'events') GROUP BY table ORDER BY table`,
    params: {},
  })
  return tables.map(({ table, size, rows }) => `${table} ${rows} rows, ${size}`).join('; ')
}
