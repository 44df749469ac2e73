import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import type { BeaconReceipt } from '../../../schemas/beacon.ts'
import type { IgnoredTraffic } from '../../../schemas/ignored.ts'
import { beaconOf, chrome, customEvent, postBeacon, receiptOf } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Json, openAccounts } from '../accounts/harness.ts'

/* Handling of events from networks, hosts and paths that a project ignores. */

let it: Accounts
let store: ReturnType<typeof openClickHouse>
beforeAll(async () => {
  it = await openAccounts({ env: { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' } })
  store = openClickHouse(inject('clickhouseUrl'), it.clickhouseDatabase)
})
afterAll(async () => {
  await store.close()
  await it.close()
})

const staging = 'https://staging.example/cart'
const event = (url = 'https://shop.example/') => ({
  ...customEvent(),
  event_data: { ...customEvent().event_data, url },
})
const identify = (url: string, hem: string) => ({
  type: 'identify',
  id: Math.random(),
  at: Date.now(),
  referrer: '',
  url,
  hem,
})
const anybody = () => hemOf(`${randomUUID()}@example.com`)
const visitor = { 'x-forwarded-for': '198.51.100.9' }
const office = { 'x-forwarded-for': '203.0.113.77' }

type Send = Awaited<ReturnType<typeof openIgnoring>>['send']
/** Events that may have been stored before the collector had the settings. */
const probes = new Set<string>()

/** A pixel of a project that ignores this; waits until the collector has pixel and settings. */
async function openIgnoring(traffic: Partial<IgnoredTraffic>) {
  const project_id = await it.makeProject()
  const pixel_id = await it.makePixel(project_id)
  const send = async (
    events: unknown[],
    headers: Record<string, string> = visitor,
    more: object = {},
  ): Promise<BeaconReceipt> => {
    const answer = await postBeacon(
      it.url,
      beaconOf(it.service, events, { pixel_id, ...more }),
      headers,
    )
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
    return receiptOf(answer)
  }
  await waitFor('the pixel', () => send([]).catch(() => null))
  await it.done(it.key, 'PUT /api/v1/project/update', { project_id, ...traffic })
  return { project_id, pixel_id, send }
}

/** Sends one more event that is not ignored, and waits until all of the pixel's events are readable. */
async function storedAfter(pixel_id: string, send: Send) {
  const last = event()
  expect(await send([last])).toMatchObject({ accepted: 1 })
  return waitFor('the last event', async () => {
    const { rows } = await it.done(it.key, `GET /api/v3/events/web_event?pixel_id=${pixel_id}`)
    const ids: string[] = rows.map(({ event_id }: Json) => event_id)
    return ids.includes(last.event_id)
      ? ids.filter((id) => id !== last.event_id && !probes.has(id))
      : null
  })
}

const linksOf = (hems: string[]) =>
  store.rows<{ hem: string }>({
    sql: 'SELECT DISTINCT hem FROM identity_links WHERE hem IN {hems:Array(String)} ORDER BY hem',
    params: { hems },
  })

const ignoredCount = async (setting: string): Promise<number> => {
  const text = await (await fetch(`${it.url}/metrics`)).text()
  return Number(
    new RegExp(`^footfall_events_ignored_total\\{setting="${setting}"\\} (\\d+)`, 'm').exec(
      text,
    )?.[1] ?? 0,
  )
}

/** Sends an event until the collector ignores it. */
async function applies(
  send: Send,
  probe = event(),
  headers?: Record<string, string>,
): Promise<void> {
  probes.add(probe.event_id)
  await waitFor('the setting', async () => ((await send([probe], headers)).ignored ?? 0) > 0)
}

test('events of an ignored network are acknowledged, not stored, not linked, and counted', async () => {
  const { pixel_id, send } = await openIgnoring({ ignored_networks: ['203.0.113.0/24'] })
  await applies(send, event(), office)
  const counted = await ignoredCount('ignored_networks')
  const [ours, theirs] = [anybody(), anybody()]
  const events = [
    event(),
    event(),
    { event_type: 'nonsense' },
    identify('https://shop.example/', ours),
  ]
  expect(await send(events, office, { hem: ours })).toEqual({
    cookie_id: expect.any(String),
    accepted: 0,
    rejected: [],
    ignored: 4,
    ignored_by: ['ignored_networks'],
  })
  // The complete address is compared, in any notation; and only that network is ignored.
  expect(await send([event()], { 'x-forwarded-for': '::ffff:203.0.113.1' })).toMatchObject({
    ignored: 1,
  })
  expect(await send([], visitor, { hem: theirs, cookie_id: randomUUID() })).not.toHaveProperty(
    'ignored',
  )
  const near = event()
  expect(await send([near], { 'x-forwarded-for': '203.0.114.1' })).toEqual({
    cookie_id: expect.any(String),
    accepted: 1,
    rejected: [],
  })

  expect(await storedAfter(pixel_id, send)).toEqual([near.event_id])
  await waitFor('the link of the visitor', async () => (await linksOf([theirs])).length === 1)
  expect(await linksOf([ours])).toEqual([])
  expect((await ignoredCount('ignored_networks')) - counted).toBe(5)
  const { rejected_events } = await it.done(
    it.key,
    `GET /api/v1/rejected_events?pixel_id=${pixel_id}`,
  )
  expect(rejected_events).toEqual([])
})

test('of one beacon, the events of an ignored host or path alone are ignored, with the identities they name', async () => {
  const { pixel_id, send } = await openIgnoring({
    ignored_hosts: ['*.example.test', 'staging.example'],
    ignored_paths: ['/preview', '*.pdf'],
  })
  await applies(send, event(staging))
  const [ignored, kept] = [anybody(), anybody()]
  const good = event()
  const events = [
    event(staging),
    good,
    event('https://a.b.example.test:8443/'),
    { ...event(), event_type: 'nonsense' },
    event('https://shop.example/preview/1'),
    identify(staging, ignored),
    identify('https://shop.example/', kept),
    event('https://shop.example/files/a.pdf'),
  ]
  const receipt = await send(events, visitor, { cookie_id: randomUUID() })
  expect(receipt).toMatchObject({ accepted: 2, rejected: [{ index: 3 }], ignored: 5 })
  expect(receipt.ignored_by!.sort()).toEqual(['ignored_hosts', 'ignored_paths'])
  // The page of a hem without events is named by the headers of the request; an origin has no path.
  const [byHeader, byPath] = [anybody(), anybody()]
  expect(
    await send([], { ...visitor, origin: 'https://staging.example' }, { hem: byHeader }),
  ).toMatchObject({
    accepted: 0,
    ignored: 0,
    ignored_by: ['ignored_hosts'],
  })
  const page = { origin: 'https://shop.example', referer: 'https://shop.example/preview/2' }
  expect(await send([], { ...visitor, ...page }, { hem: byPath })).toMatchObject({
    ignored_by: ['ignored_paths'],
  })
  expect(await storedAfter(pixel_id, send)).toEqual([good.event_id])
  await waitFor('the link', async () => (await linksOf([kept])).length === 1)
  expect(await linksOf([ignored, byHeader, byPath])).toEqual([])
})

test('GET /e.gif answers with the pixel and stores nothing', async () => {
  const { pixel_id, send } = await openIgnoring({ ignored_hosts: ['staging.example'] })
  await applies(send, event(staging))
  const counted = await ignoredCount('ignored_hosts')
  const gif = (url: string) =>
    fetch(`${it.url}/e.gif?${new URLSearchParams({ pixel_id, url })}`, {
      headers: { 'user-agent': chrome },
    })
  const answer = await gif(staging)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif'])
  expect((await gif('https://shop.example/')).status).toBe(200)
  expect(await storedAfter(pixel_id, send)).toHaveLength(1)
  expect((await ignoredCount('ignored_hosts')) - counted).toBe(1)
})

test('for a back end the address it names is compared, and without a key its own', async () => {
  const { send } = await openIgnoring({ ignored_networks: ['203.0.113.77', '2001:db8::/32'] })
  await applies(send, event(), office)
  const named = (client_ip: string, headers = it.key) =>
    send([event()], headers, { client_ip, user_agent: chrome })
  expect(await named('203.0.113.77')).toMatchObject({ accepted: 0, ignored: 1, vouched: true })
  expect(await named('2001:db8:1::9')).toMatchObject({ accepted: 0, ignored: 1, vouched: true })
  expect(await named('203.0.113.78')).toMatchObject({ accepted: 1, vouched: true })
  expect(await named('203.0.113.77', visitor)).toMatchObject({ accepted: 1 })
})

test('an owner sees why nothing arrives; refusals and rejections stay what they are', async () => {
  const { pixel_id, project_id, send } = await openIgnoring({
    ignored_networks: ['203.0.113.0/24'],
  })
  const traced = async (eventId: string) =>
    (await it.done(it.key, `GET /api/v1/events/${eventId}/trace?project_id=${project_id}`))
      .possible_reasons
  // The collector may have stored the first ones, before it had the setting.
  await applies(send, event(), office)
  const sent = event()
  expect(await send([sent], office)).toMatchObject({ accepted: 0, ignored: 1 })
  const activity = await waitFor('the activity', async () => {
    const found = await it.done(it.key, `GET /api/v1/pixel/activity/${pixel_id}`)
    return found.last_ignored ? found : null
  })
  expect(activity).toMatchObject({
    last_ignored: {
      at: expect.stringMatching(/Z$/),
      setting: 'ignored_networks',
      message: 'The project ignores the network that sent the events.',
    },
    last_refusal: null,
    last_rejection: null,
    rejected_last_24h: 0,
  })
  const { projects } = await it.done(it.owner, 'GET /api/v1/project/activity')
  expect(projects.find((project: Json) => project.project_id === project_id)).toMatchObject({
    last_refusal_at: null,
  })
  expect(await traced(sent.event_id)).toContain('ignored')
  await it.done(it.key, 'PUT /api/v1/project/update', { project_id, ignored_networks: [] })
  expect(await traced(sent.event_id)).not.toContain('ignored')
  await waitFor('the setting to end', async () => (await send([event()], office)).accepted === 1)
})
