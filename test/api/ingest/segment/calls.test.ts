/** Segment's HTTP API, called by a plain HTTP client: also requests that the libraries do not send. */
import { createHash, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { uuidOfDigest } from '../../../../collector/platform/uuidOfDigest.ts'
import { chrome, type Row } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Accounts, type Json, openAccounts } from '../../accounts/harness.ts'

let it: Accounts
let pixelId: string
let projectId: string
beforeAll(async () => {
  it = await openAccounts()
  projectId = await it.makeProject('Sends with Segment')
  pixelId = await it.makePixel(projectId, { settings: { ip: 'full' } })
  await waitFor('the pixel', async () => (await call('track', hello())).status === 200)
})
afterAll(() => it.close())

const hello = () => ({ event: 'Hello', anonymousId: randomUUID() })
const basic = (writeKey: string) => ({
  authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
})
const backEndKey = () => `${pixelId}:${it.key['x-api-key']}:${it.key['x-api-secret']}`

async function call(
  name: string,
  body: object | string | Buffer,
  { writeKey = pixelId, ...headers }: Record<string, string> = {},
) {
  const answer = await fetch(`${it.url}/v1/${name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': chrome,
      ...(writeKey && basic(writeKey)),
      ...headers,
    },
    body: (typeof body === 'string' || body instanceof Buffer
      ? body
      : JSON.stringify(body)) as NonNullable<RequestInit['body']>,
  })
  return { status: answer.status, body: (await answer.json()) as Json }
}

const rowsOf = async (filter: string, pixel = pixelId): Promise<Row[]> =>
  (
    await it.done(
      it.key,
      `GET /api/v3/events/resolution_hem?pixel_id=${pixel}&filter=${encodeURIComponent(filter)}`,
    )
  ).rows
const rowOf = (filter: string, pixel = pixelId): Promise<Row> =>
  waitFor(`the event ${filter}`, async () => (await rowsOf(filter, pixel))[0])
const dataOf = (row: Row) => JSON.parse(row.event_data as string)

test('a track call becomes a custom event, whatever the path is called and wherever the write key is', async () => {
  for (const [path, options, more] of [
    ['track', {}, {}],
    ['t', { writeKey: '', 'content-type': 'text/plain' }, { writeKey: pixelId }],
  ] as const) {
    const anonymousId = randomUUID()
    const answer = await call(
      path,
      { event: 'Order Completed', anonymousId, properties: { total: 12 }, ...more },
      options,
    )
    expect(answer).toEqual({ status: 200, body: { success: true } })
    const row = await rowOf(`cookie_id:eq:${anonymousId}`)
    expect(row).toMatchObject({ event_type: 'custom', user_agent: chrome, is_bot: false })
    expect(dataOf(row)).toEqual({
      url: 'app:unknown',
      name: 'Order Completed',
      properties: { total: 12 },
      timestamp: expect.any(String),
    })
    expect(JSON.stringify(row)).not.toContain('writeKey')
  }
})

test('a message that is sent again is stored once, and integers keep their digits', async () => {
  const messageId = `node-${randomUUID()}`
  const anonymousId = randomUUID()
  const timestamp = new Date().toISOString()
  const text = JSON.stringify({ event: 'Paid', anonymousId, messageId, timestamp })
  const body = `${text.slice(0, -1)},"properties":{"order":12345678901234567890}}`
  for (let times = 0; times < 3; times++) expect((await call('track', body)).status).toBe(200)
  await call('track', { event: 'Last', anonymousId })
  await rowOf(`cookie_id:eq:${anonymousId},event_data.name:eq:Last`)
  const rows = await rowsOf(`cookie_id:eq:${anonymousId},event_data.name:eq:Paid`)
  expect(rows).toHaveLength(1)
  expect(rows[0]!.event_data).toContain('"order":12345678901234567890')
})

test('a visitor who guesses a messageId does not use up the id of a back end, nor of another pixel', async () => {
  const event = `Order ${randomUUID()}`
  const messageId = 'order-1001'
  const timestamp = new Date().toISOString()
  const otherPixel = await it.makePixel(projectId)
  await waitFor(
    'it',
    async () => (await call('t', hello(), { writeKey: otherPixel })).status === 200,
  )
  // The ids that a stranger can compute, and the message as both senders repeat it.
  const guessed = ['message', 'verified'].map((kind) =>
    uuidOfDigest(createHash('sha256').update(`${pixelId}\n${kind}\n${messageId}`).digest()),
  )
  for (const id of [messageId, messageId, ...guessed])
    await call('track', { event, anonymousId: randomUUID(), messageId: id, timestamp })
  for (let times = 0; times < 2; times++)
    await call(
      'track',
      { event, userId: 'ann', messageId, timestamp },
      { writeKey: backEndKey(), 'user-agent': 'node' },
    )
  await call('track', { event, userId: 'bob', messageId, timestamp }, { writeKey: otherPixel })
  const filter = `event_data.name:eq:${event}`
  await rowOf(filter, otherPixel)
  const rows: Row[] = await waitFor('all', async () => {
    const found = await rowsOf(filter)
    return found.length >= 4 ? found : undefined
  })
  expect(rows).toHaveLength(4)
  expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(4)
  expect(rows.filter(({ is_bot }) => is_bot === false)).toHaveLength(4)
})

test('a page call becomes a page view with its page, screen, campaign and language', async () => {
  const anonymousId = randomUUID()
  await call('page', {
    anonymousId,
    name: 'Home',
    properties: { url: 'https://shop.example/start?token=secret', title: 'Start', plan: 'pro' },
    context: {
      page: { url: 'https://shop.example/other', referrer: 'https://search.example/' },
      screen: { width: 1200, height: 800, innerWidth: 1100, innerHeight: 700 },
      campaign: { source: 'letter', medium: 'email', name: 'June & July' },
      locale: 'nl-BE',
      library: { name: 'analytics.js', version: '9' },
    },
  })
  const row = await rowOf(`cookie_id:eq:${anonymousId}`)
  expect(row).toMatchObject({
    event_type: 'page_view',
    page_host: 'shop.example',
    page_path: '/start',
    referrer_url: 'https://search.example/',
    screen_width: 1200,
    viewport_width: 1100,
    utm_source: 'letter',
    utm_medium: 'email',
    utm_campaign: 'June & July',
    language: 'nl-BE',
  })
  expect(row.page_url).not.toContain('secret')
  expect(dataOf(row)).toMatchObject({
    title: 'Start',
    properties: { name: 'Home', plan: 'pro' },
    library: { name: 'analytics.js', version: '9' },
  })
})

test('the clock of the sender is corrected by sentAt, and originalTimestamp is preferred', async () => {
  const anonymousId = randomUUID()
  const anHour = 3_600_000
  const at = Date.now()
  await call('track', {
    event: 'Late',
    anonymousId,
    timestamp: '2020-01-01T00:00:00Z',
    originalTimestamp: new Date(at - 2 * anHour).toISOString(),
    sentAt: new Date(at - anHour).toISOString(),
  })
  const { ts_millis } = await rowOf(`cookie_id:eq:${anonymousId}`)
  expect(Math.abs(Number(ts_millis) - (at - anHour))).toBeLessThan(60_000)
})

test('identify and alias link the visitor to a hashed address; without one they store nothing', async () => {
  const email = `${randomUUID()}@example.com`
  for (const name of ['identify', 'alias']) {
    const anonymousId = randomUUID()
    await call('track', { event: 'Before', anonymousId })
    const answer = await call(name, { anonymousId, userId: '7', traits: { email: ` ${email} ` } })
    expect(answer).toEqual({ status: 200, body: { success: true } })
    const row = await rowOf(`cookie_id:eq:${anonymousId},resolved:eq:true`)
    expect(row.hem).toBe(hemOf(email))
    expect((await call(name, { anonymousId, userId: '7', traits: { plan: 'pro' } })).status).toBe(
      200,
    )
  }
})

test('a pixel that requires signed identifies refuses an unsigned one', async () => {
  const pixel_id = await it.makePixel(projectId, { settings: { require_signed_identify: true } })
  await waitFor('it', async () => (await call('t', hello(), { writeKey: pixel_id })).status === 200)
  const answer = await call(
    'identify',
    { anonymousId: randomUUID(), traits: { email: 'ann@example.com' } },
    { writeKey: pixel_id },
  )
  expect(answer).toMatchObject({
    status: 400,
    body: { error: 'malformed', code: 'malformed', message: expect.stringContaining('signed') },
  })
})

test('a batch is stored when one of its visitors takes long and identifies, and the next one does not', async () => {
  const [slow, quick] = [randomUUID(), randomUUID()]
  const batch = [
    ...Array(300).fill({ type: 'track', event: 'Seen', anonymousId: slow }),
    { type: 'identify', anonymousId: slow, traits: { email: 'slow@example.com' } },
    { type: 'track', event: 'Seen', anonymousId: quick },
  ]
  expect(await call('batch', { batch })).toEqual({ status: 200, body: { success: true } })
})

test('a batch has messages of several visitors; an invalid one costs itself alone', async () => {
  const [ann, bob] = [randomUUID(), randomUUID()]
  const { status, body } = await call('batch', {
    batch: [
      { type: 'track', event: 'A', anonymousId: ann },
      { type: 'track', event: '', anonymousId: ann, traits: { email: 'ann@example.com' } },
      { type: 'track', event: 'B', anonymousId: bob },
      { type: 'none', anonymousId: bob },
      { type: 'track', event: 'C' },
      { type: 'track', event: 'D', anonymousId: ann, properties: { text: 'x'.repeat(40_000) } },
      { type: 'track', event: 'E', anonymousId: ann, properties: { text: 'x'.repeat(20_000) } },
      { type: 'page', anonymousId: ann, timestamp: 'yesterday' },
      7,
    ],
  })
  expect({ status, success: body.success }).toEqual({ status: 200, success: true })
  expect(body.rejected.map(({ index, path }: { index: number; path: string }) => [index, path]))
    // biome-ignore format: one line for each.
    .toEqual([
    [1, '/event'],
    [3, '/type'],
    [4, '/anonymousId'],
    [5, ''],
    [6, '/properties'],
    [7, '/timestamp'],
    [8, ''],
  ])
  await rowOf(`cookie_id:eq:${ann},event_data.name:eq:A`)
  await rowOf(`cookie_id:eq:${bob},event_data.name:eq:B`)
  const rejected = await waitFor('the rejected events', async () => {
    const { rejected_events } = await it.done(
      it.key,
      `GET /api/v1/rejected_events?project_id=${projectId}&pixel_id=${pixelId}`,
    )
    return rejected_events.length >= 7 && rejected_events
  })
  expect(JSON.stringify(rejected)).not.toContain('ann@example.com')
})

test('without an API key the request says who the visitor is; with one in the write key the context does', async () => {
  const context = { ip: '203.0.113.9', userAgent: `${chrome} Edg/140.0.0.0` }
  const [plain, vouched] = [randomUUID(), randomUUID()]
  await call('track', { event: 'A', anonymousId: plain, context })
  expect(await rowOf(`cookie_id:eq:${plain}`)).toMatchObject({
    client_ip: '127.0.0.1',
    user_agent: chrome,
  })
  await call('track', { event: 'A', anonymousId: vouched, context }, { writeKey: backEndKey() })
  expect(await rowOf(`cookie_id:eq:${vouched}`)).toMatchObject({
    client_ip: context.ip,
    user_agent: context.userAgent,
  })
})

test('userId without anonymousId is always the same visitor; a cookie of the collector is not read', async () => {
  const event = `By ${randomUUID()}`
  for (const cookie of [randomUUID(), randomUUID()])
    await call('track', { event, userId: 'user 7' }, { cookie: `footfall=${cookie}` })
  const rows: Row[] = await waitFor('both', async () => {
    const found = await rowsOf(`event_data.name:eq:${event}`)
    return found.length === 2 ? found : undefined
  })
  expect(rows[0]!.cookie_id).toBe(rows[1]!.cookie_id)
})

test('a stranger who guesses a userId is another visitor than the back end’s, and cannot compute its id', async () => {
  for (const who of [{ userId: '42' }, { anonymousId: 'visitor-42' }]) {
    const url = `https://shop.example/${randomUUID()}`
    const page = { ...who, properties: { url } }
    await call('page', page, { writeKey: backEndKey() })
    await call('page', page, { writeKey: backEndKey() })
    await call('page', page)
    const rows: Row[] = await waitFor('all', async () => {
      const found = await rowsOf(`event_data.url:eq:${url}`)
      return found.length === 3 ? found : undefined
    })
    const ids = rows.map(({ cookie_id }) => cookie_id as string)
    expect(new Set(ids).size).toBe(2)
    // The id that a stranger can compute from the public id of the pixel.
    const [kind, text] = 'userId' in who ? ['user', who.userId] : ['anonymous', who.anonymousId]
    const digest = createHash('sha256').update(`${pixelId}\n${kind}\n${text}`).digest()
    expect(ids).not.toContain(uuidOfDigest(digest))
  }
})

test('a UUID as anonymousId is the same visitor with a key and without', async () => {
  const anonymousId = randomUUID()
  await call('track', { event: 'Server', anonymousId, userId: '42' }, { writeKey: backEndKey() })
  await call('track', { event: 'Browser', anonymousId: anonymousId.toUpperCase() })
  await waitFor('both', async () => (await rowsOf(`cookie_id:eq:${anonymousId}`)).length === 2)
})

test('screen and group become custom events', async () => {
  const anonymousId = randomUUID()
  await call('screen', { anonymousId, name: 'Cart', properties: { items: 2 } })
  await call('group', { anonymousId, groupId: 'g1', traits: { plan: 'pro' } })
  const screen = await rowOf(`cookie_id:eq:${anonymousId},event_data.name:eq:screen`)
  expect(dataOf(screen).properties).toEqual({ items: 2, name: 'Cart' })
  const group = await rowOf(`cookie_id:eq:${anonymousId},event_data.name:eq:group`)
  expect(dataOf(group).properties).toEqual({ group_id: 'g1', plan: 'pro' })
})

test('denied consent gives the id of the day, and origins of the pixel are required', async () => {
  const anonymousId = randomUUID()
  const event = `Denied ${randomUUID()}`
  const consent = { categoryPreferences: { Analytics: true, Advertising: false } }
  await call('track', { event, anonymousId, context: { consent } })
  const row = await rowOf(`event_data.name:eq:${event}`)
  expect(row.cookie_id).not.toBe(anonymousId)
  const pixel_id = await it.makePixel(projectId, { allowed_origins: ['https://shop.example'] })
  const shop = { writeKey: pixel_id, origin: 'https://shop.example' }
  await waitFor('it', async () => (await call('track', hello(), shop)).status === 200)
  expect(await call('track', hello(), { ...shop, origin: 'https://x.example' })).toMatchObject({
    status: 403,
    body: { code: 'origin_not_allowed' },
  })
})

test('gzip is unpacked; a body that is too large, packed or not, is refused', async () => {
  const anonymousId = randomUUID()
  const packed = gzipSync(JSON.stringify({ event: 'Packed', anonymousId }))
  expect((await call('track', packed, { 'content-encoding': 'gzip' })).status).toBe(200)
  await rowOf(`cookie_id:eq:${anonymousId}`)
  const large = JSON.stringify({ batch: [], filler: 'x'.repeat(600 * 1024) })
  expect(await call('batch', large)).toMatchObject({ status: 413, body: { error: 'too_large' } })
  expect(await call('batch', gzipSync(large), { 'content-encoding': 'gzip' })).toMatchObject({
    status: 413,
    body: { error: 'too_large' },
  })
  expect(await call('batch', 'no gzip', { 'content-encoding': 'gzip' })).toMatchObject({
    status: 400,
    body: { error: 'malformed' },
  })
  expect((await call('batch', 'x', { 'content-encoding': 'br' })).status).toBe(415)
})

test('a wrong write key and a body that cannot be read get an error that says what to do', async () => {
  const cases: [object | string, Record<string, string>, number, string][] = [
    [hello(), { writeKey: '' }, 401, 'invalid_api_key'],
    [hello(), { writeKey: 'abc' }, 401, 'invalid_api_key'],
    [hello(), { writeKey: randomUUID() }, 404, 'pixel_not_found'],
    [hello(), { writeKey: `${pixelId}:ff_live_x:y` }, 401, 'invalid_api_key'],
    ['{', {}, 400, 'malformed'],
    ['[]', {}, 400, 'malformed'],
    [{ ...hello(), event: 7 }, {}, 400, 'malformed'],
  ]
  for (const [body, options, status, code] of cases) {
    const answer = await call('track', body, options)
    expect(answer).toMatchObject({ status, body: { code, request_id: expect.any(String) } })
  }
  expect(await call('batch', { batch: {} })).toMatchObject({ status: 400 })
  expect(await call('batch', { batch: Array(2501).fill(1) })).toMatchObject({ status: 400 })
  expect(await call('m', { series: [] })).toEqual({ status: 200, body: { success: true } })
})

test('a time in the future is the time of the request, in the row and in its data', async () => {
  const anonymousId = randomUUID()
  const timestamp = '2101-01-01T00:00:00.000Z'
  await call('track', { event: 'Later', anonymousId, timestamp })
  const row = await rowOf(`cookie_id:eq:${anonymousId}`)
  expect(Date.parse(row.timestamp as string)).toBeLessThanOrEqual(Date.now())
  expect(dataOf(row).timestamp).toBe(row.timestamp)
  const february = await call('track', {
    event: 'Never',
    anonymousId,
    timestamp: '2026-02-30T10:00:00Z',
  })
  expect(february.status).toBe(400)
})
