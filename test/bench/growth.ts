import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import type { Service } from '../harness/service.ts'
import { beaconText } from './beacons.ts'
import { addGoals, processorMs, untilCounted } from './counted.ts'
import { optimize } from './events.ts'
import { insertGrowthEvents } from './growthEvents.ts'
import { load } from './load.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

const dayMs = 86_400_000
const days = 365
/** Days, of which the last is today: the windows that the dashboard asks for. */
const windows = [1, 30, 365]
/** Requests of each read; the first is not counted. */
const times = 7
/** Slower reads are asked less often. */
const slowMs = 5_000

export interface Read {
  path: string
  query?: Record<string, string>
  body?: object
  target: string
  /** Without a window. */
  isLive?: true
}

const goals = [
  { name: 'Page view', filter: 'event_type:eq:page_view' },
  {
    name: 'Purchase',
    filter: 'event_data.name:eq:purchase',
    value: { property: 'event_data.properties.price', currency: 'EUR' },
  },
]

const ofOverview = 'p95 ≤ 300 ms with 10 M in the window'
const ofFilters = '≤ 500 ms with 10 M in the window'
const ofSteps = '≤ 2 s with 10 M in the window'
const steps = ['event_type:eq:page_view', 'event_type:eq:click', 'event_type:eq:custom']

/** The reads of the dashboard's pages, and a page of events. */
const reads: Record<string, Read> = {
  overview: { path: 'analytics/overview', target: ofOverview },
  series: { path: 'analytics/timeseries', query: { interval: 'day' }, target: ofOverview },
  breakdowns: {
    path: 'analytics/breakdown',
    query: { dimensions: 'page_path,referrer_host,country,device_type', limit: '8' },
    target: ofOverview,
  },
  live: { path: 'analytics/live', target: ofOverview, isLive: true },
  'overview, one filter': {
    path: 'analytics/overview',
    query: { filter: 'country:eq:DE' },
    target: ofFilters,
  },
  'pages, one filter': {
    path: 'analytics/breakdown',
    query: { dimensions: 'page_path', filter: 'source:eq:Google', limit: '8' },
    target: ofFilters,
  },
  'pages, events filtered': {
    path: 'analytics/breakdown',
    query: { dimensions: 'page_path', filter: 'event_type:eq:click', limit: '8' },
    target: ofFilters,
  },
  'custom events, by name': {
    path: 'analytics/breakdown',
    query: { dimensions: 'event_data.name', limit: '8' },
    target: ofOverview,
  },
  'custom events, by a property': {
    path: 'analytics/breakdown',
    query: { dimensions: 'event_data.properties.sku', limit: '8' },
    target: ofOverview,
  },
  'conversions by source': {
    path: 'analytics/breakdown',
    query: { dimensions: 'source', goal: 'Purchase', limit: '8' },
    target: ofFilters,
  },
  'conversions by source, one filter': {
    path: 'analytics/breakdown',
    query: { dimensions: 'source', goal: 'Page view', filter: 'country:eq:DE', limit: '8' },
    target: ofFilters,
  },
  'conversions, one filter': {
    path: 'analytics/conversions',
    query: { filter: 'source:eq:Google' },
    target: ofFilters,
  },
  funnel: { path: 'analytics/funnel', body: { steps }, target: ofSteps },
  retention: { path: 'analytics/retention', query: { interval: 'week' }, target: ofSteps },
  journeys: { path: 'analytics/journeys', target: ofSteps },
  'page of 100 events': { path: 'events', query: { limit: '100' }, target: 'flat' },
}

/**
 * Measures reads, and the size of events on the disk, as a project grows. It has the numbers of events that --growth
 * says, over a year. Windows are a day, thirty days and the year.
 */
export function growth({ growth: sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const { url, database } = readStore(service)
    const clickhouse = openClickHouse(url, database)
    const rows: Row[] = []
    await addGoals(service, goals)
    for (const size of sizes) {
      for (const table of ['events', 'hits'])
        await clickhouse.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
      const newestMs = Date.now()
      const { organization_id, project_id, pixel_id } = service.demo
      await insertGrowthEvents(
        clickhouse,
        {
          organizationId: organization_id,
          projectId: project_id,
          pixelId: pixel_id,
          rows: size,
          days,
          newestMs,
        },
        log,
      )
      if (size <= optimizedMax) await optimize({ url, database }, 'events')
      await untilCounted(clickhouse, service)
      rows.push(await diskRow(clickhouse, size))
      const measure = async (measured: readonly number[], beside: string) => {
        for (const [name, read] of Object.entries(reads))
          for (const window of read.isLive ? [1] : measured) {
            const before = await processorMs(clickhouse)
            const taken = await timesOf(service, read, newestMs, window)
            const spent = (await processorMs(clickhouse)) - before
            const row = rowOf(name + beside, read, { size, window, taken, spent })
            log(`${row.what}: ${row.value}`)
            rows.push(row)
          }
      }
      await measure(windows, '')
      const end = besideOthers(service, newestMs)
      await measure([besideDays], ', beside a reader and a writer')
      log(await end())
    }
    await clickhouse.close()
    return rows
  })
}

/** The window that has 10 M of 100 M events is measured next to a reader and a writer, too. */
const besideDays = 30
const page = { path: 'events', query: { limit: '1000' } }
const writtenPerSecond = 200
const writerSeconds = 5

/**
 * Starts a reader, which asks for one page of events after the other, and a writer of one-event beacons. The answer
 * ends both and says what they did.
 */
function besideOthers(service: Service, newestMs: number): () => Promise<string> {
  let isOver = false
  let pages = 0
  let beacons = 0
  const reader = async () => {
    while (!isOver) {
      const answer = await send(service, page, newestMs, besideDays)
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`the reader’s page is answered with ${answer.status}`)
      pages++
    }
  }
  const writer = async () => {
    const body = beaconText(service.demo.pixel_id, 1)
    const options = { url: service.url, body, seconds: writerSeconds, connections: 4 }
    while (!isOver) beacons += (await load({ ...options, rate: writtenPerSecond })).requests
  }
  const both = Promise.all([reader(), writer()])
  return async () => {
    isOver = true
    await both
    return `beside: ${pages} pages of events read, ${beacons} events written`
  }
}

/** Merging more into one part takes longer than all that is measured. */
const optimizedMax = 20_000_000

async function diskRow(clickhouse: ClickHouse, size: number): Promise<Row> {
  const [disk] = await clickhouse.rows<{
    bytes: number
    hits: number
    index: number
    projections: number
  }>({
    sql: `SELECT sum(bytes_on_disk) / sumIf(rows, table = 'events') AS bytes,
            sumIf(bytes_on_disk, table = 'hits') / sumIf(rows, table = 'events') AS hits,
            sum(secondary_indices_compressed_bytes) / sumIf(rows, table = 'events') AS index,
            (SELECT sum(bytes_on_disk) FROM system.projection_parts
             WHERE database = currentDatabase() AND table IN ('events', 'hits') AND active) / sumIf(rows, table = 'events') AS projections
          FROM system.parts WHERE database = currentDatabase() AND table IN ('events', 'hits') AND active`,
    params: {},
  })
  return {
    what: `${millions(size)}: disk per event`,
    value: `${disk!.bytes.toFixed(1)} B`,
    target: '≤ 105 B',
    detail: `of it hits ${disk!.hits.toFixed(1)} B, projections ${disk!.projections.toFixed(1)} B, skip indexes ${disk!.index.toFixed(1)} B`,
  }
}

const millions = (rows: number): string => `${rows / 1_000_000} M events`

function rowOf(
  name: string,
  { target, isLive }: Read,
  {
    size,
    window,
    taken,
    spent,
  }: { size: number; window: number; taken: readonly number[] | string; spent: number },
): Row {
  const what = `${millions(size)}: ${name}${isLive ? '' : `, ${window} days`}, p95`
  if (typeof taken === 'string') return { what, value: taken, target, detail: 'refused' }
  return {
    what,
    value: `${Math.round(percentile(taken, 95))} ms`,
    target,
    detail: `p50 ${Math.round(percentile(taken, 50))} ms, ${taken.length} requests one after the other; ClickHouse ${Math.round(spent / (taken.length + 1))} ms of processor time`,
  }
}

/** Milliseconds of each request, or the error that answers it. */
async function timesOf(
  service: Service,
  read: Read,
  newestMs: number,
  window: number,
): Promise<number[] | string> {
  const taken: number[] = []
  for (let request = 0; request <= times; request++) {
    const startedAt = performance.now()
    const answer = await send(service, read, newestMs, window)
    const body = (await answer.json()) as { error?: string }
    const ms = performance.now() - startedAt
    if (!answer.ok) return `${answer.status} ${body.error}`
    if (request > 0 || ms > slowMs) taken.push(ms)
    if (ms > slowMs && taken.length > 1) break
  }
  return taken
}

export function send(
  { url, demo }: Service,
  { path, query, body, isLive }: Omit<Read, 'target'>,
  newestMs: number,
  window: number,
): Promise<Response> {
  const { project_id, api_key, api_secret } = demo
  const times = {
    start_ms: Math.floor((newestMs - 1) / dayMs) * dayMs - (window - 1) * dayMs,
    end_ms: newestMs,
  }
  const address = new URL(path === 'events' ? '/api/v3/events/web_event' : `/api/v1/${path}`, url)
  const asked = { project_id, ...(isLive ? {} : times), ...query }
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret }
  if (body)
    return fetch(address, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked, ...body }),
    })
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, String(value))
  return fetch(address, { headers })
}
