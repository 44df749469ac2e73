import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { ask, beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import { untilCounted } from './counted.ts'
import { makeEvents } from './events.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

const dayMs = 86_400_000
/** Of the thirty days all but today. */
const daysOver = 29
const times = 20
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

/**
 * Time of the figures of thirty days through the API, with as many events as --events sets. They are measured
 * alone, and with a reader who reads page after page. Also the time until an event is in the live figures.
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
    await untilCounted(clickhouse, service)
    await clickhouse.close()
    const window = { start_ms: String(midnight - daysOver * dayMs), end_ms: String(now) }
    const addressOf = (path: string, query: Record<string, string>) =>
      `/api/v1/analytics/${path}?${new URLSearchParams({ project_id, ...(path === 'live' ? {} : window), ...query })}`
    const rows: Row[] = []
    const parts = `${sizes.events} events, ${sizes.cookies} visitors`
    for (const [name, [path, query]] of Object.entries(asked)) {
      const alone = await timesOf(service, addressOf(path, query), times)
      const beside = await besideReader(service, () =>
        timesOf(service, addressOf(path, query), times),
      )
      rows.push(
        rowOf(`analytics/${name}, 30 days`, alone, parts),
        rowOf(`analytics/${name}, beside a reader of pages`, beside, parts),
      )
    }
    rows.push(await liveLag(service))
    return rows
  })
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
