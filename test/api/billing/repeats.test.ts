import { randomUUID } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { eventOf, linkOf, openEvents, projectId, type Row } from '../events/harness.ts'

/* An Idempotency-Key makes the charged records free, and nothing else that a repeat returns. */

const events = await openEvents()
afterAll(() => events.close())

const hemOf = () => randomUUID().replaceAll('-', '').repeat(2)
let key: string
beforeEach(() => {
  key = randomUUID()
})

/** Repeats the request with the test's key; returns the rows and their cost. */
async function ask(options: InjectOptions) {
  const before = await ledger()
  const answer = await events.app.inject({ ...options, headers: { 'idempotency-key': key } })
  expect(answer.statusCode).toBe(200)
  const after = await ledger()
  const cost = Object.entries(after)
    .map(([meter, records]) => [meter, records - (before[meter] ?? 0)])
    .filter(([, records]) => records !== 0)
  return { body: answer.json(), cost: Object.fromEntries(cost) }
}
const get = (path: string, query: Record<string, string>) =>
  ask({ url: `${path}?${new URLSearchParams(query)}` })

async function ledger(): Promise<Record<string, number>> {
  const { rows } = await events.postgres.query<{ meter: string; records: number }>(
    'SELECT meter, sum(records)::int AS records FROM ledger GROUP BY meter',
  )
  return Object.fromEntries(rows.map(({ meter, records }) => [meter, records]))
}

/** A pixel of a test's own. */
const pixelOf = () => {
  const pixelId = randomUUID()
  return {
    pixelId,
    insert: (agoMs: readonly number[], more: Row = {}) =>
      events.insert(agoMs.map((ago) => eventOf(Date.now(), ago, { pixel_id: pixelId, ...more }))),
  }
}
const idsOf = (rows: Row[]) => rows.map(({ event_id }) => event_id)

test('a repeat reads the window of the first request, and so the same rows, for nothing', async () => {
  const { pixelId, insert } = pixelOf()
  await insert([30_000, 20_000, 10_000])
  const first = await get('/api/v3/events/web_event', { pixel_id: pixelId })
  expect(first.cost).toEqual({ events: 3 })
  await insert([0, 0])
  const again = await get('/api/v3/events/web_event', { pixel_id: pixelId })
  expect(idsOf(again.body.rows)).toEqual(idsOf(first.body.rows))
  expect([again.body.meta.start_ms, again.body.meta.end_ms]).toEqual([
    first.body.meta.start_ms,
    first.body.meta.end_ms,
  ])
  expect(again.cost).toEqual({})
})

test('of rows from the oldest on a repeat is free, and what came before or after them is charged', async () => {
  const { pixelId, insert } = pixelOf()
  const now = Date.now()
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now + 3_600_000) }
  const query = { pixel_id: pixelId, ...window, order: 'asc', limit: '3' }
  const path = '/api/v3/events/web_event'
  await insert([30_000, 20_000])
  expect((await get(path, query)).cost).toEqual({ events: 2 })
  expect((await get(path, query)).cost).toEqual({})
  await insert([10_000])
  expect((await get(path, query)).cost).toEqual({ events: 1 })
  await insert([40_000])
  expect((await get(path, query)).cost).toEqual({ events: 1 })
  expect((await get(path, query)).cost).toEqual({})
})

test.each([
  ['/api/v3/events/web_event', {}],
  ['/api/v1/events', { select: 'event_type' }],
  ['/api/v2/events', {}],
])('of %s rows that came since are charged, as many as were there before', async (path, more) => {
  const { pixelId, insert } = pixelOf()
  const now = Date.now()
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now + 3_600_000) }
  const query = { pixel_id: pixelId, ...window, limit: '3', ...(more as Record<string, string>) }
  await insert([30_000, 20_000, 10_000])
  expect((await get(path, query)).cost).toEqual({ events: 3 })
  await insert([1_000])
  expect((await get(path, query)).cost).toEqual({ events: 1 })
  expect((await get(path, query)).cost).toEqual({})
  await insert([500, 400, 300])
  expect((await get(path, query)).cost).toEqual({ events: 3 })
})

test.each([
  ['/api/v3/events/web_event', { select: 'event_id,ts_millis' }],
  ['/api/v3/events/web_event', {}],
  ['/api/v1/events', { select: 'event_id,ts_millis' }],
  ['/api/v2/events', { select: 'event_id,ts_millis' }],
])(
  'of %s rows that came late, between those that were charged, are charged',
  async (path, more) => {
    const { pixelId } = pixelOf()
    const now = Date.now()
    const agesMs = Array.from({ length: 100 }, (_, index) => 60_000 + 10 * index)
    const insertAt = (ages: number[]) =>
      events.insert(ages.map((ago) => eventOf(now, ago, { pixel_id: pixelId })))
    await insertAt(agesMs)
    const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
    const query = { pixel_id: pixelId, ...window, limit: '20', ...(more as Record<string, string>) }
    const first = await get(path, query)
    expect(first.cost).toEqual({ events: 20 })
    await insertAt(Array.from({ length: 50 }, (_, index) => agesMs[4]! + index))
    const charged = new Set(idsOf(first.body.rows))
    const second = await get(path, query)
    const uncharged = idsOf(second.body.rows).filter((id) => !charged.has(id))
    expect(uncharged.length).toBeGreaterThan(0)
    expect(second.cost).toEqual({ events: uncharged.length })
    expect(second.body.meta.charged).toBe(uncharged.length)
    expect((await get(path, query)).cost).toEqual({})
  },
)

test.each([
  ['/api/v3/events/web_event', { order: 'asc' }],
  ['/api/v3/events/web_event', { order: 'asc', select: 'event_type' }],
  ['/api/v1/events', {}],
  ['/api/v2/events', {}],
])('a free repeat of %s %j says exactly whether more rows follow', async (path, more) => {
  const { pixelId } = pixelOf()
  const now = Date.now()
  const insertAt = (...agesMs: number[]) =>
    events.insert(agesMs.map((ago) => eventOf(now, ago, { pixel_id: pixelId })))
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
  const query = { pixel_id: pixelId, ...window, limit: '2', ...(more as Record<string, string>) }
  const told = async () => {
    const { body, cost } = await get(path, query)
    return [body.meta.has_more, body.meta.next_cursor !== undefined && body.meta.has_more, cost]
  }
  await insertAt(30_000, 20_000)
  expect((await get(path, query)).cost).toEqual({ events: 2 })
  expect(await told()).toEqual([false, false, {}])
  await insertAt('order' in more ? 10_000 : 40_000)
  expect(await told()).toEqual([true, path.includes('v3'), {}])
})

test('the page after a repeat begins with the row that came since, which is charged', async () => {
  const { pixelId, insert } = pixelOf()
  const now = Date.now()
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now + 3_600_000) }
  const query = { pixel_id: pixelId, ...window, order: 'asc', limit: '2' }
  const path = '/api/v3/events/web_event'
  await insert([30_000, 20_000])
  const first = await get(path, query)
  expect(first.body.meta).toMatchObject({ has_more: false })
  await insert([10_000])
  const again = await get(path, query)
  expect(again.body.meta).toMatchObject({ has_more: true, charged: 0 })
  const rest = await get(path, { ...query, cursor: again.body.meta.next_cursor })
  expect([rest.body.rows.length, rest.cost]).toEqual([1, { events: 1 }])
  expect(idsOf(first.body.rows)).not.toContain(rest.body.rows[0].event_id)
})

test('a repeat of the visitors behind a figure, or of a contact query, has a cursor once more follow', async () => {
  const { pixelId } = pixelOf()
  const domain = `${randomUUID()}.example`
  const hems = [hemOf(), hemOf()].toSorted()
  const person = (hem: string) => ({
    hem,
    company_domain: domain,
    business_email: `${hem}@${domain}`,
  })
  const now = Date.now()
  const visit = (cookie_id: string) =>
    events.insertHits([eventOf(now, 10_000, { pixel_id: pixelId, cookie_id })])
  const window = { start_ms: now - 3_600_000, end_ms: now }
  const visitors = {
    method: 'POST',
    url: '/api/v1/analytics/visitors',
    payload: { pixel_id: pixelId, ...window, limit: 1 },
  } as const
  const contacts = {
    method: 'POST',
    url: '/api/v1/contact/query',
    payload: { filter: `company_domain:eq:${domain}`, limit: 1 },
  } as const
  await visit('00000000-0000-4000-8000-000000000001')
  await events.know({ profiles: [person(hems[0]!)] })
  const told = async (asked: InjectOptions) => {
    const { body, cost } = await ask(asked)
    return [body.next_cursor !== undefined, cost]
  }
  for (const asked of [visitors, contacts]) await ask(asked)
  expect([await told(visitors), await told(contacts)]).toEqual([
    [false, {}],
    [false, {}],
  ])
  await visit('00000000-0000-4000-8000-000000000002')
  await events.know({ profiles: [person(hems[1]!)] })
  expect([await told(visitors), await told(contacts)]).toEqual([
    [true, {}],
    [true, {}],
  ])
})

test('with nothing left of any limit, repeats of tier routes, lookups and batches are free and never refused', async () => {
  const { pixelId, insert } = pixelOf()
  const hem = hemOf()
  await insert([10_000, 5_000])
  await events.know({ profiles: [{ hem, first_name: 'Ada' }] })
  const now = Date.now()
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
  const post = (url: string, payload: object) => ({ method: 'POST', url, payload }) as const
  const asked: InjectOptions[] = [
    { url: `/api/v3/events/web_event?${new URLSearchParams({ pixel_id: pixelId, ...window })}` },
    {
      url: `/api/v3/events/resolution_hem?${new URLSearchParams({ pixel_id: pixelId, ...window })}`,
    },
    { url: `/api/v1/events?${new URLSearchParams({ pixel_id: pixelId, ...window })}` },
    { url: `/api/v1/lookup?hem=${hem}` },
    post('/api/v1/lookup', { hem }),
    post('/api/v1/lookup/batch', {
      items: [
        { id: '1', hem },
        { id: '2', hem: hemOf() },
      ],
    }),
  ]
  const repeat = async (options: InjectOptions) => {
    const answer = await events.app.inject({ ...options, headers: { 'idempotency-key': key } })
    return [answer.statusCode, answer.headers['x-footfall-charged']]
  }
  for (const one of asked) expect((await repeat(one))[1]).not.toBe('0')
  // Other files may have stored them.
  const { rows: stored } = await events.postgres.query<{ organization_id: string }>(
    `INSERT INTO organizations (organization_id, name) SELECT DISTINCT organization_id, 'O' FROM ledger
     ON CONFLICT DO NOTHING RETURNING organization_id`,
  )
  await events.postgres.query(
    `INSERT INTO usage_limits SELECT organization_id, meter, 0, NULL FROM ledger
     GROUP BY organization_id, meter`,
  )
  try {
    // An admission holds for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    for (const one of asked) {
      expect(await repeat(one)).toEqual([200, '0'])
      expect((await events.app.inject(one)).statusCode).toBe(429)
    }
  } finally {
    await events.postgres.query('DELETE FROM usage_limits')
    await events.postgres.query('DELETE FROM organizations WHERE organization_id = ANY ($1)', [
      stored.map(({ organization_id }) => organization_id),
    ])
  }
})

test('rows that came late between the first and the last of a whole answer are charged', async () => {
  const { pixelId, insert } = pixelOf()
  const now = Date.now()
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
  const query = { pixel_id: pixelId, ...window, limit: '4' }
  const path = '/api/v3/events/web_event'
  await insert([40_000, 10_000])
  expect((await get(path, query)).cost).toEqual({ events: 2 })
  await insert([20_000, 30_000])
  expect((await get(path, query)).cost).toEqual({ events: 2 })
  expect((await get(path, query)).cost).toEqual({})
})

test('events of two projects with one id are two records', async () => {
  const { pixelId } = pixelOf()
  const now = Date.now()
  const eventId = randomUUID()
  const insertFor = (project_id: string) =>
    events.insert([eventOf(now, 10_000, { pixel_id: pixelId, event_id: eventId, project_id })])
  const query = { pixel_id: pixelId, start_ms: String(now - 60_000), end_ms: String(now) }
  await insertFor(projectId)
  expect((await get('/api/v3/events/web_event', query)).cost).toEqual({ events: 1 })
  await insertFor(randomUUID())
  // An organization's projects are remembered for a second.
  const costs: number[] = []
  const readAgain = async () => {
    const { body, cost } = await get('/api/v3/events/web_event', query)
    costs.push(cost.events ?? 0)
    return body.rows.length
  }
  await expect.poll(readAgain, { timeout: 20_000 }).toBe(2)
  await readAgain()
  expect(costs.filter((records) => records > 0)).toEqual([1])
})

test('rows that have become those of a higher tier are charged on its meter', async () => {
  const { pixelId, insert } = pixelOf()
  const cookie = randomUUID()
  await insert([20_000, 10_000], { cookie_id: cookie })
  const now = Date.now()
  const query = { pixel_id: pixelId, start_ms: String(now - 60_000), end_ms: String(now) }
  expect((await get('/api/v1/events', query)).cost).toEqual({ events: 2 })
  await events.know({ links: [linkOf(cookie, hemOf())] })
  const identified = await get('/api/v1/events', query)
  expect(identified.body.meta.meter).toBe('resolution_hem')
  expect(identified.cost).toEqual({ resolution_hem: 2 })
  expect((await get('/api/v1/events', query)).cost).toEqual({})
})

test.each([
  ['/api/v3/events/resolution_hem', { select: 'hem' }],
  ['/api/v3/events/resolution_hem', { select: 'event_id', filter: 'has_profile:eq:false' }],
  ['/api/v1/events', { select: 'event_id,hem' }],
  ['/api/v2/events', {}],
  ['/api/v3/events/resolution_hem/visitors', { project_id: projectId, limit: '10' }],
])('of %s events of a browser that is another person’s now are charged', async (path, more) => {
  const { pixelId, insert } = pixelOf()
  const cookie = randomUUID()
  const linkTo = (hem: string) => events.know({ links: [linkOf(cookie, hem)] })
  await linkTo(hemOf())
  await insert([10_000], { cookie_id: cookie })
  const now = Date.now()
  const window = { start_ms: String(now - 60_000), end_ms: String(now) }
  const query = { pixel_id: pixelId, ...window, ...(more as Record<string, string>) }
  expect((await get(path, query)).cost).toEqual({ resolution_hem: 1 })
  expect((await get(path, query)).cost).toEqual({})
  await linkTo(hemOf())
  expect((await get(path, query)).cost).toEqual({ resolution_hem: 1 })
  expect((await get(path, query)).cost).toEqual({})
})

test('a lookup of a browser that is another person’s now is charged', async () => {
  const { insert } = pixelOf()
  const cookie_id = randomUUID()
  const lookup = () => get('/api/v1/lookup/cookie', { cookie_id })
  await insert([10_000], { cookie_id })
  const [one, other] = [hemOf(), hemOf()]
  await events.know({ links: [linkOf(cookie_id, one)] })
  expect((await lookup()).cost).toEqual({ lookup: 1 })
  expect((await lookup()).cost).toEqual({})
  await events.know({ links: [linkOf(cookie_id, other)] })
  const now = await lookup()
  expect(now.body.hem).toBe(other)
  expect(now.cost).toEqual({ lookup: 1 })
  expect((await lookup()).cost).toEqual({})
})

test('a lookup of an address that is another company’s now is charged', async () => {
  const { live } = events.clickhouse
  const [one, other] = [`${randomUUID()}.example`, `${randomUUID()}.example`]
  const ip = '198.18.77.1'
  const give = async (company_domain: string) => {
    await live.command({
      sql: 'INSERT INTO company_networks (network, company_domain) VALUES ({network:String}, {company_domain:String})',
      params: { network: `${ip}/32`, company_domain },
    })
    await reloadIdentity(live)
  }
  const lookup = () => get('/api/v1/lookup/company', { ip })
  await live.command({
    sql: 'INSERT INTO companies (company_domain) VALUES ({one:String}), ({other:String})',
    params: { one, other },
  })
  await give(one)
  expect((await lookup()).cost).toEqual({ lookup: 1 })
  expect((await lookup()).cost).toEqual({})
  await give(other)
  const now = await lookup()
  expect(now.body.company.company_domain).toBe(other)
  expect(now.cost).toEqual({ lookup: 1 })
  expect((await lookup()).cost).toEqual({})
})

test('visitors that came since are charged', async () => {
  const { pixelId, insert } = pixelOf()
  const [early, late] = [randomUUID(), randomUUID()]
  await events.know({ links: [linkOf(early, hemOf()), linkOf(late, hemOf())] })
  await insert([20_000], { cookie_id: early })
  const now = Date.now()
  const window = { start_ms: String(now - 60_000), end_ms: String(now + 60_000) }
  const query = { project_id: projectId, pixel_id: pixelId, ...window, limit: '10' }
  const path = '/api/v3/events/resolution_hem/visitors'
  expect((await get(path, query)).cost).toEqual({ resolution_hem: 1 })
  expect((await get(path, query)).cost).toEqual({})
  await insert([5_000], { cookie_id: late })
  expect((await get(path, query)).cost).toEqual({ resolution_hem: 1 })
})

test('visitors whose events came late, between those that were charged, are charged', async () => {
  const { pixelId, insert } = pixelOf()
  const cookies = Array.from({ length: 5 }, () => randomUUID())
  await events.know({ links: cookies.map((cookie) => linkOf(cookie, hemOf())) })
  const visit = (index: number) => insert([60_000 - 10_000 * index], { cookie_id: cookies[index]! })
  for (const index of [0, 2, 4]) await visit(index)
  const now = Date.now()
  const window = { start_ms: String(now - 3_600_000), end_ms: String(now + 60_000) }
  const query = { project_id: projectId, pixel_id: pixelId, ...window, limit: '4' }
  const path = '/api/v3/events/resolution_hem/visitors'
  expect((await get(path, query)).cost).toEqual({ resolution_hem: 3 })
  await visit(1)
  await visit(3)
  expect((await get(path, query)).cost).toEqual({ resolution_hem: 2 })
  expect((await get(path, query)).cost).toEqual({})
})

test('people who have become known since are charged, of lookups and contact queries', async () => {
  const hems = [hemOf(), hemOf(), hemOf()].sort()
  const domain = `${randomUUID()}.example`
  const person = (hem: string) => ({
    hem,
    company_domain: domain,
    business_email: `${hem}@${domain}`,
  })
  const batch = {
    method: 'POST',
    url: '/api/v1/lookup/batch',
    payload: { items: hems.map((hem) => ({ hem })) },
  } as const
  const contact = {
    method: 'POST',
    url: '/api/v1/contact/query',
    payload: { filter: `company_domain:eq:${domain}` },
  } as const
  await events.know({ profiles: [person(hems[0]!), person(hems[1]!)] })
  for (const [asked, meter] of [
    [batch, 'lookup'],
    [contact, 'contact'],
  ] as const) {
    expect((await ask(asked)).cost).toEqual({ [meter]: 2 })
    expect((await ask(asked)).cost).toEqual({})
  }
  expect((await get('/api/v1/lookup', { hem: hems[2]! })).cost).toEqual({})
  await events.know({ profiles: [person(hems[2]!)] })
  for (const [asked, meter] of [
    [batch, 'lookup'],
    [contact, 'contact'],
  ] as const) {
    expect((await ask(asked)).cost).toEqual({ [meter]: 1 })
    expect((await ask(asked)).cost).toEqual({})
  }
  expect((await get('/api/v1/lookup', { hem: hems[2]! })).cost).toEqual({ lookup: 1 })
  expect((await get('/api/v1/lookup', { hem: hems[2]! })).cost).toEqual({})
})
