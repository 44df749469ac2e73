import { countsQuery } from '../../collector/events/query/counts/counts.ts'
import { CountsQuery, readCountsRequest } from '../../collector/events/query/counts/countsPlan.ts'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import type { Tier } from '../../schemas/fields.ts'
import { checkedQuery } from '../harness/checkedQuery.ts'
import type { Service } from '../harness/service.ts'
import { makeEvents } from './events.ts'
import { hourMs, pageDirectly, pageThroughApi, readStore, type Store } from './pages.ts'
import { makePeople } from './people.ts'
import { record, replay, send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave, median } from './stats.ts'

const dayMs = 24 * hourMs
const days = 30
/** Older events, of which each is another visitor's: the worst that a page can be. */
const scatteredDays = 2
const visitMs = 300_000
const eventsPerVisit = 10
const pagesPerRepeat = 15
const warmUpPages = 5

/** A page of one tier, and how its store is prepared. */
interface Case {
  what: string
  tier: Tier
  target: string
  /** True: nobody's profile is in memory. */
  isCold?: true
  isScattered?: true
}

const full = 'resolution_full_profile'
const cases: readonly Case[] = [
  { what: 'web_event', tier: 'web_event', target: '≤ 1.15' },
  { what: 'resolution_hem', tier: 'resolution_hem', target: '≤ 1.3' },
  {
    what: 'resolution_hem_pte, profiles not in memory',
    tier: 'resolution_hem_pte',
    target: '',
    isCold: true,
  },
  { what: 'full profile, profiles not in memory', tier: full, target: '≤ 2', isCold: true },
  { what: 'full profile, profiles in memory', tier: full, target: '≤ 2' },
  {
    what: 'full profile, 1,000 visitors on a page, not in memory',
    tier: full,
    target: '',
    isCold: true,
    isScattered: true,
  },
]

/**
 * Pages of 1,000 events of each tier through the API ÷ the SQL of tier web_event straight from ClickHouse, p50. Every
 * second visitor is known; visits have ten events within five minutes.
 */
export function tiers(bench: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const store = readStore(service)
    const clickhouse = openClickHouse(store.url, store.database)
    const newestMs = Date.now()
    await fill(bench, store, service, newestMs)
    const rows = [
      ...(await pages(bench, store, service, clickhouse, newestMs)),
      await counts(bench, store, service, newestMs, null),
      await counts(bench, store, service, newestMs, 'resolved:eq:true'),
    ]
    await clickhouse.close()
    return rows
  })
}

async function fill(
  { sizes, log }: Bench,
  store: Store,
  service: Service,
  newestMs: number,
): Promise<void> {
  const { events, cookies, profiles } = sizes
  log(`making ${events} events`)
  await makeVisits(store, service.demo, { events, cookies }, newestMs)
  log(`making ${profiles} profiles, ${cookies / 2} links`)
  await makePeople(store, service.demo, { profiles, cookies })
}

/** Makes events of thirty days before `newestMs`, visit by visit, and some before, each of another visitor. */
export async function makeVisits(
  store: Store,
  demo: Demo,
  { events, cookies }: { events: number; cookies: number },
  newestMs: number,
): Promise<void> {
  const spanMs = days * dayMs
  const visitors = Math.max(1, Math.round((events / spanMs) * (visitMs / eventsPerVisit)))
  await makeEvents(store, demo, {
    rows: events,
    newestMs,
    spanMs,
    cookie: `cityHash64(cityHash64(number) % ${visitors}, intDiv(number, ${visitors * eventsPerVisit})) % ${cookies}`,
  })
  await makeEvents(store, demo, {
    rows: Math.min(events, 200_000),
    newestMs: newestMs - spanMs,
    spanMs: scatteredDays * dayMs,
    cookie: `cityHash64(number) % ${cookies}`,
  })
}

/** A page of each tier, and the first byte of one. */
export async function pages(
  { repeats, log }: Bench,
  store: Store,
  service: Service,
  clickhouse: ClickHouse,
  newestMs: number,
): Promise<Row[]> {
  const random = seededRandom(1)
  const anywhere = (isScattered?: true) =>
    isScattered
      ? newestMs - days * dayMs - random.integer(0, (scatteredDays - 1) * 24 - 1) * hourMs
      : newestMs - random.integer(0, (days - 2) * 24 * 60) * 60_000
  const directly: { ms: number; firstMs: number }[] = []
  const times = cases.map((): { ms: number; firstMs: number; bytes: number }[] => [])
  log('reading pages')
  for (let page = 0; page < warmUpPages + repeats * pagesPerRepeat; page++) {
    const direct = await pageDirectly(store, service.demo, anywhere())
    if (page >= warmUpPages) directly.push(direct)
    for (const [index, { tier, isCold, isScattered }] of cases.entries()) {
      const endMs = anywhere(isScattered)
      if (isCold)
        await clickhouse.command({ sql: 'SYSTEM RELOAD DICTIONARY profile_by_hem', params: {} })
      else await pageThroughApi(service, tier, endMs)
      const { ms, firstMs, body } = await pageThroughApi(service, tier, endMs)
      if (page >= warmUpPages) times[index]!.push({ ms, firstMs, bytes: body.length })
    }
  }
  const direct = median(directly.map(({ ms }) => ms))
  const first = (timed: { firstMs: number }[]) => median(timed.map(({ firstMs }) => firstMs))
  return [
    ...cases.map(({ what, target }, index) => {
      const api = median(times[index]!.map(({ ms }) => ms))
      const megabytes = median(times[index]!.map(({ bytes }) => bytes)) / 1e6
      return {
        what: `page at ${what} ÷ web_event SQL, p50`,
        value: (api / direct).toFixed(2),
        target,
        detail: `${api.toFixed(1)} ÷ ${direct.toFixed(1)} ms, ${times[index]!.length} pages of ${megabytes.toFixed(1)} MB`,
      }
    }),
    {
      what: 'first byte of a web_event page over ClickHouse’s, p50',
      value: `${(first(times[0]!) - first(directly)).toFixed(1)} ms`,
      target: '≤ 2 ms',
      detail: `${first(times[0]!).toFixed(1)} − ${first(directly).toFixed(1)} ms`,
    },
  ]
}

/** Counts of all events by type, those that `filter` lets through. */
export async function counts(
  { repeats, sizes }: Bench,
  { url, database }: Store,
  service: Service,
  newestMs: number,
  filter: string | null,
): Promise<Row> {
  const { api_key, api_secret, organization_id, project_id } = service.demo
  const query = {
    project_id,
    start_ms: String(newestMs - days * dayMs),
    end_ms: String(newestMs),
    group_by: 'event_type',
    ...(filter && { filter }),
  }
  const { plan } = readCountsRequest({ query: checkedQuery(CountsQuery, query) }, newestMs)
  const scope = {
    organizationId: organization_id,
    projectId: project_id,
    pixelId: null,
    campaignId: null,
  }
  const request = await record(url, database, (clickhouse) =>
    clickhouse.stream(countsQuery({ ...plan, scope }), 'JSONEachRow'),
  )
  const address = new URL(
    `/api/v3/events/web_event/counts?${new URLSearchParams(query)}`,
    service.url,
  )
  const { a, b, ratio } = await interleave(
    repeats * 3,
    async () =>
      (await send(address, 'GET', { 'x-api-key': api_key, 'x-api-secret': api_secret })).ms,
    async () => (await replay(url, request)).ms,
  )
  return {
    what: `counts of ${sizes.events} events${filter ? ` with ${filter}` : ''} ÷ same SQL`,
    value: ratio.toFixed(2),
    target: '≤ 1.15',
    detail: `${a.toFixed(0)} ÷ ${b.toFixed(0)} ms`,
  }
}
