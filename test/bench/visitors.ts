import { outputFormat, rowEncoding } from '../../collector/events/query/page/rowEncoding.ts'
import { visitorsQuery } from '../../collector/events/visitors/visitors.ts'
import {
  readVisitorsRequest,
  VisitorsQuery,
  type VisitorTier,
} from '../../collector/events/visitors/visitorsRequest.ts'
import { serviceRssMiB } from '../chaos/processes.ts'
import { checkedQuery } from '../harness/checkedQuery.ts'
import type { Service } from '../harness/service.ts'
import { makeEvents } from './events.ts'
import { readStore, type Store } from './pages.ts'
import { makePeople } from './people.ts'
import { record, replay, send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave } from './stats.ts'

const spanMs = 30 * 86_400_000
const most = 50_000

/** 50,000 visitors through the API ÷ the same SQL directly from ClickHouse, and the memory of the service. */
export function visitors({ repeats, sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const store = readStore(service)
    const newestMs = Date.now()
    log(`making ${sizes.events} events, ${sizes.profiles} profiles`)
    await makeEvents(store, service.demo, {
      rows: sizes.events,
      newestMs,
      spanMs,
      cookie: `cityHash64(number) % ${sizes.cookies}`,
    })
    await makePeople(store, service.demo, sizes)
    log('reading visitors')
    return measureVisitors(service, store, newestMs, repeats)
  })
}

/** The visitors of the thirty days before `newestMs`. */
export async function measureVisitors(
  service: Service,
  store: Store,
  newestMs: number,
  repeats: number,
): Promise<Row[]> {
  const tiers = ['resolution_hem', 'resolution_full_profile'] as const
  const rows: Row[] = []
  for (const tier of tiers) rows.push(...(await measure(service, store, tier, newestMs, repeats)))
  return rows
}

async function measure(
  service: Service,
  { url, database }: Store,
  tier: VisitorTier,
  newestMs: number,
  repeats: number,
): Promise<Row[]> {
  const { api_key, api_secret, organization_id, project_id } = service.demo
  const query = {
    project_id,
    start_ms: String(newestMs - spanMs),
    end_ms: String(newestMs + 1),
    limit: String(most),
  }
  const { plan } = readVisitorsRequest({ query: checkedQuery(VisitorsQuery, query) }, tier)
  const scope = {
    organizationId: organization_id,
    projectId: project_id,
    pixelId: null,
    campaignId: null,
  }
  const encoding = rowEncoding(plan, 'json', { leadsWithNext: false })
  const request = await record(url, database, (clickhouse) =>
    clickhouse.stream(
      visitorsQuery({ ...plan, scope }, encoding),
      outputFormat(plan.columns, encoding),
    ),
  )
  const address = new URL(
    `/api/v3/events/${tier}/visitors?${new URLSearchParams(query)}`,
    service.url,
  )
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret }

  const rss = () => serviceRssMiB(service.process.pid!)
  await send(new URL(address.href.replace(`limit=${most}`, 'limit=100')), 'GET', headers)
  const rssBefore = rss()
  let rssMax = rssBefore
  let bytes = 0
  const timer = setInterval(() => {
    rssMax = Math.max(rssMax, rss())
  }, 20)
  const { a, b, ratio } = await interleave(
    repeats,
    async () => {
      const answer = await send(address, 'GET', headers)
      bytes = answer.body.length
      return answer.ms
    },
    async () => (await replay(url, request)).ms,
  )
  clearInterval(timer)
  return [
    {
      what: `${most} visitors at ${tier} ÷ same SQL`,
      value: ratio.toFixed(2),
      target: '≤ 1.3',
      detail: `${a.toFixed(0)} ÷ ${b.toFixed(0)} ms, ${(bytes / 1e6).toFixed(0)} MB`,
    },
    {
      what: `memory that ${most} visitors at ${tier} add`,
      value: `${(rssMax - rssBefore).toFixed(0)} MiB`,
      target: '≤ 64 MiB',
      detail: `of the service's own processes, over ${rssBefore.toFixed(0)} MiB`,
    },
  ]
}
