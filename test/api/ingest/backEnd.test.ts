import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../collector/api/client/index.ts'
import { rejectedEvents } from '../../../collector/platform/metrics.ts'
import type { BeaconReceipt } from '../../../schemas/beacon.ts'
import {
  beaconOf,
  chrome,
  customEvent,
  postBeacon,
  type Row,
  receiptOf,
} from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Caller, nobody, openAccounts } from '../accounts/harness.ts'

let it: Accounts
let pixelId: string
let projectId: string
beforeAll(async () => {
  it = await openAccounts()
  projectId = await it.makeProject('A shop with a back end')
  pixelId = await it.makePixel(projectId, {
    allowed_origins: ['https://shop.example'],
    settings: { ip: 'full' },
  })
  await waitFor('the pixel', async () => (await postBeacon(it.url, beacon([]), page)).ok)
})
afterAll(() => it.close())

/** Additional headers of a page, which a back end does not send. */
const page = { origin: 'https://shop.example' }
const server = { 'user-agent': 'node' }
const visitor = { client_ip: '203.0.113.9', user_agent: chrome }

const beacon = (events: unknown[], more: object = {}) =>
  beaconOf(it.service, events, { pixel_id: pixelId, ...visitor, ...more })

/** Sends one event; answers what the receipt says, and the event as it is stored. */
async function send(
  headers: Caller,
  more: object = {},
): Promise<{ receipt: BeaconReceipt; row: Row }> {
  const event = customEvent()
  const answer = await postBeacon(it.url, beacon([event], more), { ...server, ...headers })
  expect(answer.status).toBe(200)
  const receipt = await receiptOf(answer)
  return { receipt, row: await stored(event.event_id) }
}

const stored = (eventId: string): Promise<Row> =>
  waitFor('the event', async () => {
    const query = `pixel_id=${pixelId}&filter=event_id:eq:${eventId}`
    return (await it.done(it.key, `GET /api/v3/events/web_event?${query}`)).rows[0]
  })

const asTheVisitor = { client_ip: visitor.client_ip, user_agent: chrome, is_bot: false }
const asTheServer = { client_ip: '127.0.0.1', user_agent: 'node', is_bot: true }

test('a key that may write in the pixel’s project says whose event it is, and of no origin', async () => {
  for (const key of [it.key, await it.makeKey(projectId, 'live', { role: 'write' })]) {
    const { receipt, row } = await send(key)
    expect(receipt).toEqual({
      cookie_id: expect.any(String),
      accepted: 1,
      rejected: [],
      vouched: true,
    })
    expect(row).toMatchObject(asTheVisitor)
  }
  // Missing values come from the request. A program of the customer is not a bot.
  const { row: ofServer } = await send(it.key, { client_ip: undefined, user_agent: undefined })
  expect(ofServer).toMatchObject({ ...asTheServer, is_bot: false, bot_reason: null })
  const { row } = await send(
    { ...it.key, 'user-agent': chrome },
    { client_ip: undefined, user_agent: undefined },
  )
  expect(row).toMatchObject({ client_ip: '127.0.0.1', user_agent: chrome })
})

test('without consent the visitor of a back end has the id of the day that the page has', async () => {
  const ofPage = await send(
    { ...it.key, 'user-agent': chrome },
    { consent: false, user_agent: undefined },
  )
  const ofServer = await send(it.key, { consent: false })
  expect(ofServer.receipt.cookie_id).toBe(ofPage.receipt.cookie_id)
  const ofAnother = await send(it.key, { consent: false, client_ip: '203.0.113.10' })
  expect(ofAnother.receipt.cookie_id).not.toBe(ofServer.receipt.cookie_id)
})

test('a wrong key, and one that is not good for the pixel, is as none', async () => {
  const stranger = await it.openStranger()
  const others = {
    none: nobody,
    unknown: { 'x-api-key': 'ff_live_unknown', 'x-api-secret': 'x' },
    'wrong secret': { ...it.key, 'x-api-secret': 'x' },
    'no secret': { 'x-api-key': it.key['x-api-key']! },
    test: it.testKey,
    reading: await it.makeKey(projectId, 'live', { role: 'read' }),
    'another project’s': await it.makeKey(it.demo.project_id),
    'another organization’s': stranger.key,
  }
  for (const [name, key] of Object.entries(others)) {
    const refused = await postBeacon(it.url, beacon([customEvent()]), key)
    expect(await refused.json(), name).toMatchObject({ error: 'origin not allowed' })
    const { receipt, row } = await send({ ...key, ...page })
    expect(receipt, name).toEqual({ cookie_id: expect.any(String), accepted: 1, rejected: [] })
    expect(row, name).toMatchObject(asTheServer)
    // Nor is what they say of the visitor looked at.
    const odd = await postBeacon(it.url, beacon([], { client_ip: 1, user_agent: {} }), {
      ...key,
      ...page,
    })
    expect(odd.status, name).toBe(200)
  }
})

test('events of more than 30 days ago need a key, by the corrected time', async () => {
  const dayMs = 86_400_000
  const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
  const eventAt = (days: number) => {
    const event = customEvent()
    return { ...event, event_data: { ...event.event_data, timestamp: daysAgo(days) } }
  }
  const rejectedOf = async (headers: Caller, days: number, more: object = {}) =>
    (await receiptOf(await postBeacon(it.url, beacon([eventAt(days)], more), headers))).rejected
  const fault = { path: '/event_data/timestamp', message: expect.stringContaining('API key') }
  expect(await rejectedOf(page, 29)).toEqual([])
  expect(await rejectedOf(page, 31)).toMatchObject([fault])
  expect(await rejectedOf({ ...it.testKey, ...page }, 31)).toMatchObject([fault])
  // The clock of a sender says nothing about the age.
  expect(await rejectedOf(page, 200, { sent_at: daysAgo(199) })).toEqual([])
  expect(await rejectedOf(page, 10, { sent_at: daysAgo(-25) })).toMatchObject([fault])
  expect(await rejectedOf(it.key, 365)).toEqual([])
  expect(await rejectedOf(it.key, 367)).toMatchObject([{ path: fault.path }])
})

test('rejected events without a key do not fill the list, whatever their fault, and all of them count', async () => {
  const pixel_id = await it.makePixel(projectId)
  const send = async (events: object[], headers: Caller = nobody) =>
    receiptOf(await postBeacon(it.url, beacon(events, { pixel_id }), headers))
  const old = () => {
    const event = customEvent()
    const timestamp = new Date(Date.now() - 400 * 86_400_000).toISOString()
    return { ...event, event_data: { ...event.event_data, timestamp } }
  }
  const many = (make: () => object) => Array.from({ length: 100 }, make)
  const counted = async () => {
    const { values } = await rejectedEvents.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  await waitFor('the pixel', async () => (await postBeacon(it.url, beacon([], { pixel_id }))).ok)
  const before = await counted()
  for (const make of [old, () => ({ ...customEvent(), event_type: 'none' })])
    expect((await send(many(make))).rejected).toHaveLength(100)
  expect((await send(many(old), it.key)).rejected).toHaveLength(100)
  expect((await counted()) - before).toBe(300)
  const rows: Row[] = await waitFor('the rejected events of the key', async () => {
    const route = `GET /api/v1/rejected_events?pixel_id=${pixel_id}&limit=1000`
    const { rejected_events } = await it.done(it.key, route)
    return rejected_events.length > 100 && rejected_events
  })
  const isOfKey = ({ message }: Row) => message === 'must be at most 366 days ago'
  expect(rows.filter(isOfKey)).toHaveLength(100)
  // Two minutes' worth, if one ended between the beacons.
  expect(rows.length - 100).toBeLessThanOrEqual(120)
})

test('what a good key says of the visitor is checked, and made well-formed', async () => {
  for (const [more, message] of [
    [{ client_ip: 'localhost' }, 'client_ip must be an IPv4 or IPv6 address.'],
    [{ client_ip: 7 }, 'client_ip must be an IPv4 or IPv6 address.'],
    [{ user_agent: null }, 'user_agent must be a string.'],
  ] as const) {
    const answer = await postBeacon(it.url, beacon([customEvent()], more), it.key)
    expect(await answer.json()).toMatchObject({ error: 'malformed', message })
  }
  const { row } = await send(it.key, { client_ip: '2001:db8::1', user_agent: 'Half \ud800 and \0' })
  expect(row).toMatchObject({ client_ip: '2001:db8::1', user_agent: 'Half \ufffd and \ufffd' })
})

test('the client sends it with its key, with the types of the documentation', async () => {
  const { 'x-api-key': key, 'x-api-secret': secret } = it.key as Record<string, string>
  const client = createClient({ baseUrl: it.url, key: key!, secret: secret! })
  const event_id = randomUUID()
  const timestamp = new Date().toISOString()
  const { vouched } = await client.sendEvents({
    pixel_id: pixelId,
    ...visitor,
    sent_at: timestamp,
    events: [
      {
        event_id,
        event_type: 'custom',
        event_data: {
          url: 'https://shop.example/paid',
          timestamp,
          name: 'paid',
          properties: { order: 1 },
        },
      },
    ],
  })
  expect(vouched).toBe(true)
  expect(await stored(event_id)).toMatchObject({
    ...asTheVisitor,
    page_url: 'https://shop.example/paid',
  })
})
