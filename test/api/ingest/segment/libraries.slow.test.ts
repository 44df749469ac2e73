/** Segment's and RudderStack's libraries for Node, as npm has them, send to Footfall. */
import { randomUUID } from 'node:crypto'
import RudderAnalytics from '@rudderstack/rudder-sdk-node'
import { Analytics } from '@segment/analytics-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { chrome, type Row } from '../../../harness/api.ts'
import { type Relay, startRelay } from '../../../harness/relay.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Accounts, openAccounts } from '../../accounts/harness.ts'

let it: Accounts
let relay: Relay
beforeAll(async () => {
  it = await openAccounts()
  relay = await startRelay(it.url)
})
afterAll(async () => {
  relay?.close()
  await it?.close()
})

/** A pixel that takes events, and the write key of its project's back end. */
async function openSource() {
  const pixelId = await it.makePixel(it.demo.project_id, { settings: { ip: 'full' } })
  const track = { event: 'x', anonymousId: randomUUID(), writeKey: pixelId }
  await waitFor('the pixel', async () => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' } }
    return (await fetch(`${it.url}/v1/track`, { ...request, body: JSON.stringify(track) })).ok
  })
  const writeKey = `${pixelId}:${it.key['x-api-key']}:${it.key['x-api-secret']}`
  return { pixelId, writeKey }
}

/** All events of a visitor, once the last call has arrived. */
const eventsOf = (pixelId: string, visitor: string, count: number): Promise<Row[]> =>
  waitFor(`${count} events`, async () => {
    const { rows } = await it.done(
      it.key,
      `GET /api/v3/events/resolution_hem?pixel_id=${pixelId}&filter=cookie_id:eq:${visitor}`,
    )
    return rows.length >= count && rows.every((row: Row) => row.resolved) && rows
  })

const context = {
  ip: '203.0.113.20',
  userAgent: chrome,
  locale: 'de-CH',
  page: { url: 'https://shop.example/cart', referrer: 'https://search.example/' },
}
const email = `${randomUUID()}@example.com`

/** What every library's calls become, by the name that the event has. */
function expectAllCalls(rows: Row[], library: string): void {
  const named = rows.map((row) => {
    const data = JSON.parse(row.event_data as string)
    return [data.name ?? row.event_type, data] as const
  })
  expect(named.map(([name]) => name).sort()).toEqual([
    'Order Completed',
    'group',
    'page_view',
    'screen',
  ])
  const data = Object.fromEntries(named)
  expect(data['Order Completed'].properties).toEqual({ total: 42.5, products: [{ sku: 'a' }] })
  expect(data.group.properties).toMatchObject({ group_id: 'g', plan: 'pro' })
  expect(data.screen.properties).toMatchObject({ name: 'Cart', items: 3 })
  expect(data.page_view).toMatchObject({ url: context.page.url, properties: { name: 'Basket' } })
  for (const row of rows) {
    expect(row).toMatchObject({
      hem: hemOf(email),
      client_ip: context.ip,
      user_agent: chrome,
      language: 'de-CH',
      is_bot: false,
      page_url: context.page.url,
      referrer_url: context.page.referrer,
    })
    expect(JSON.parse(row.event_data as string).library.name).toBe(library)
  }
}

test('every call of @segment/analytics-node arrives, and a repeated flush doubles nothing', async () => {
  const { pixelId, writeKey } = await openSource()
  relay.toLose = 2
  const asked = relay.requests.length
  const analytics = new Analytics({ writeKey, host: relay.url, flushInterval: 200, maxRetries: 5 })
  const anonymousId = randomUUID()
  const who = { anonymousId, context }
  analytics.identify({ ...who, userId: 'u1', traits: { email, plan: 'pro' } })
  analytics.track({
    ...who,
    event: 'Order Completed',
    properties: { total: 42.5, products: [{ sku: 'a' }] },
  })
  analytics.page({ ...who, name: 'Basket' })
  analytics.screen({ ...who, name: 'Cart', properties: { items: 3 } })
  analytics.group({ ...who, groupId: 'g', traits: { plan: 'pro' } })
  analytics.alias({ userId: 'u1', previousId: 'u0', context })
  await analytics.closeAndFlush({ timeout: 20_000 })
  expect(relay.requests.length - asked).toBeGreaterThanOrEqual(3)
  expectAllCalls(await eventsOf(pixelId, anonymousId, 4), '@segment/analytics-node')
})

test('every call of @rudderstack/rudder-sdk-node arrives, packed, and a repeated flush doubles nothing', async () => {
  const { pixelId, writeKey } = await openSource()
  relay.toLose = 2
  const asked = relay.requests.length
  const rudder = new RudderAnalytics(writeKey, {
    dataPlaneUrl: relay.url,
    flushInterval: 200,
    retryCount: 5,
    logLevel: 'error',
  })
  const anonymousId = randomUUID()
  const who = { anonymousId, context }
  rudder.identify({ ...who, userId: 'u1', traits: { email, plan: 'pro' } })
  rudder.track({
    ...who,
    event: 'Order Completed',
    properties: { total: 42.5, products: [{ sku: 'a' }] },
  })
  rudder.page({ ...who, name: 'Basket' })
  rudder.screen({ ...who, name: 'Cart', properties: { items: 3 } })
  rudder.group({ ...who, groupId: 'g', traits: { plan: 'pro' } })
  rudder.alias({ userId: 'u1', previousId: 'u0', context })
  await rudder.flush()
  const rows = await eventsOf(pixelId, anonymousId, 4)
  const sent = relay.requests.slice(asked)
  expect(sent.length).toBeGreaterThanOrEqual(3)
  expect(sent[0]!.headers['content-encoding']).toBe('gzip')
  expectAllCalls(rows, 'analytics-node')
})
