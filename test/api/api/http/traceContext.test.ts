import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectStores } from '../../../../collector/platform/stores/openStores.ts'
import { openApp } from '../../../harness/app.ts'
import { type Relay, startRelay } from '../../../harness/relay.ts'
import { openTenant, type Tenant } from '../../../harness/sharedApp.ts'

let tenant: Tenant
let relay: Relay
let stores: ReturnType<typeof connectStores>
let opened: Awaited<ReturnType<typeof openApp>>

beforeAll(async () => {
  tenant = await openTenant()
  const { CLICKHOUSE_URL, CLICKHOUSE_DATABASE, DATABASE_URL } = tenant.env as Record<string, string>
  const direct = new URL(CLICKHOUSE_URL!)
  relay = await startRelay(direct.origin)
  const relayed = Object.assign(new URL(relay.url), {
    username: direct.username,
    password: direct.password,
  })
  stores = connectStores(
    { clickhouse: relayed.href, postgresUrl: DATABASE_URL! },
    CLICKHOUSE_DATABASE!,
    { warn() {} },
  )
  opened = await openApp(stores)
})
afterAll(async () => {
  await opened.close()
  await stores.close()
  relay.close()
  await tenant.service.stop()
})

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const paths = ['/api/v3/events/web_event', '/api/v1/analytics/live']

/** Sends a request, and returns the `traceparent` of the queries that it caused. */
async function queriesOf(path: string, headers: Record<string, string>) {
  const { api_key, api_secret, project_id } = tenant.service.demo
  const before = relay.requests.length
  const answer = await opened.app.inject({
    url: `${path}?project_id=${project_id}`,
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret, ...headers },
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return relay.requests.slice(before).map((request) => request.headers.traceparent)
}

test.each(paths)('every query of %s is part of the caller’s trace', async (path) => {
  const traced = await queriesOf(path, { traceparent: trace })
  expect(traced.length).toBeGreaterThan(0)
  expect(new Set(traced)).toEqual(new Set([trace]))
})

test.each(['', 'x', trace.toUpperCase(), trace.replace('00-0', '01-0'), `${trace}, ${trace}`])(
  'without a valid traceparent (%j), queries have none',
  async (given) => {
    const traced = await queriesOf(paths[0]!, given === '' ? {} : { traceparent: given })
    expect(traced.length).toBeGreaterThan(0)
    expect(new Set(traced)).toEqual(new Set([undefined]))
  },
)
