import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { eventOf, openEvents, type Row } from './harness.ts'

/* A copier in the order of arrival gets each event once, however late it came. */

// What collectors have stored holds for all organizations of a service.
const events = await openEvents({ isAlone: true })
afterAll(() => events.close())
const now = Date.now()

const completeUntil = (at: number, collectorId = '00000000-0000-4000-8000-000000000001') =>
  events.postgres.query(
    `INSERT INTO collectors (collector_id, hostname, complete_until_ms) VALUES ($1, 'here', $2)
     ON CONFLICT (collector_id) DO UPDATE SET complete_until_ms = excluded.complete_until_ms`,
    [collectorId, at],
  )
const received = (agoMs: number, lateMs: number, more: Row = {}) =>
  eventOf(now, agoMs + lateMs, { received_at: new Date(now - agoMs).toISOString(), ...more })
const idsOf = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)

test('a feed waits for what is on its way, and goes on from its cursor', async () => {
  const answer = await events.get('events/web_event', { order: 'received' })
  expect([answer.statusCode, answer.json().error]).toEqual([503, 'busy'])
  expect(answer.headers['retry-after']).toBe('1')

  const project_id = randomUUID()
  const first = received(50_000, 0, { project_id })
  const late = received(40_000, 30 * 86_400_000, { project_id })
  const third = received(30_000, 0, { project_id })
  await events.insert([third, late, first])
  await completeUntil(now - 35_000)
  await delay(1_100)
  const query = { project_id, order: 'received', start_ms: String(now - 60_000) }
  const page = await events.page(query)
  expect(idsOf(page.rows)).toEqual(idsOf([first, late]))
  expect(page.meta).toMatchObject({
    order: 'received',
    complete_until: new Date(now - 35_000).toISOString(),
    end_ms: now - 35_000,
    has_more: false,
  })
  const again = await events.page({ cursor: page.meta.next_cursor! })
  expect([again.rows, again.meta.next_cursor]).toEqual([[], page.meta.next_cursor])

  // With several collectors the last one decides; events received before its mark are there.
  await completeUntil(now - 10_000)
  await completeUntil(now - 20_000, '00000000-0000-4000-8000-000000000002')
  await delay(1_100)
  for (const select of ['', 'event_type', 'event_id,received_at']) {
    const found: Row[] = []
    const pages = { project_id, limit: '1', ...(select && { select }) }
    for (let cursor = ''; found.length < 3; ) {
      const next = await events.page({ ...pages, ...(cursor ? { cursor } : query) })
      found.push(...next.rows)
      cursor = next.meta.next_cursor!
    }
    const { rows } = await events.page({ ...query, ...(select && { select }) })
    expect(found).toEqual(rows)
    expect(rows).toHaveLength(3)
  }
  const lines = await events.get('events/web_event', query, { accept: 'text/csv' })
  expect(lines.headers['x-footfall-complete-until']).toBe(new Date(now - 20_000).toISOString())
  expect(lines.headers['x-footfall-next-cursor']).toBeDefined()
  const ended = await events.page({ ...query, end_ms: String(now - 35_000) })
  expect(idsOf(ended.rows)).toEqual(idsOf([first, late]))
  expect(ended.meta.next_cursor).toBeUndefined()
  const refused = await events.get('events/web_event', { ...query, distinct: 'cookie_id' })
  expect([refused.statusCode, refused.json().parameter]).toEqual([400, 'distinct'])
})

test('a feed keeps its place when its complete part becomes shorter', async () => {
  const project_id = randomUUID()
  const first = received(50_000, 0, { project_id })
  const second = received(30_000, 0, { project_id })
  await events.insert([first, second])
  await completeUntil(now - 40_000, '00000000-0000-4000-8000-000000000002')
  await completeUntil(now - 40_000)
  await delay(1_100)
  const page = await events.page({
    project_id,
    order: 'received',
    start_ms: String(now - 60_000),
  })
  expect(idsOf(page.rows)).toEqual(idsOf([first]))
  // As after a crash of ClickHouse, when lost rows are inserted again.
  await completeUntil(now - 55_000)
  await delay(1_100)
  const waiting = await events.page({ project_id, cursor: page.meta.next_cursor! })
  expect([waiting.rows, waiting.meta.next_cursor]).toEqual([[], page.meta.next_cursor])
  await completeUntil(now - 20_000)
  await completeUntil(now - 20_000, '00000000-0000-4000-8000-000000000002')
  await delay(1_100)
  const { rows } = await events.page({ project_id, cursor: waiting.meta.next_cursor! })
  expect(idsOf(rows)).toEqual(idsOf([second]))
})

test('a feed of an organization has the first events of a project that had none a moment ago', async () => {
  const organization = randomUUID()
  const headers = { 'x-organization': organization }
  const query = { start_ms: String(now - 60_000) }
  await completeUntil(now - 20_000)
  // For any duration of the insert, the cached result of the first page is used by the second request.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  try {
    expect((await events.page(query, headers)).rows).toEqual([])
    const first = received(30_000, 0, { organization_id: organization })
    await events.insert([first])
    const page = await events.page({ ...query, order: 'received' }, headers)
    expect(idsOf(page.rows)).toEqual(idsOf([first]))
  } finally {
    vi.useRealTimers()
  }
})

test('a page has the first events of an organization that had none a moment ago', async () => {
  const organization = randomUUID()
  const headers = { 'x-organization': organization }
  const query = { start_ms: String(now - 60_000) }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  try {
    expect((await events.page(query, headers)).rows).toEqual([])
    const first = received(30_000, 0, { organization_id: organization })
    await events.insert([first])
    expect(idsOf((await events.page(query, headers)).rows)).toEqual(idsOf([first]))
  } finally {
    vi.useRealTimers()
  }
})

test('a page has the first events of another project that were received before its complete_until', async () => {
  const organization = randomUUID()
  const headers = { 'x-organization': organization }
  const query = { start_ms: String(now - 60_000) }
  const of = (project_id: string) =>
    received(30_000, 0, { organization_id: organization, project_id })
  const [first, second] = [of(randomUUID()), of(randomUUID())]
  await events.insert([first])
  await completeUntil(now - 40_000)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
  try {
    // The time up to which events are complete is remembered now, and which projects there are a little later.
    await events.page(query, { 'x-organization': randomUUID() })
    vi.setSystemTime(Date.now() + 900)
    expect(idsOf((await events.page(query, headers)).rows)).toEqual(idsOf([first]))
    await events.insert([second])
    await completeUntil(now - 20_000)
    vi.setSystemTime(Date.now() + 150)
    const { rows, meta } = await events.page(query, headers)
    expect(meta.complete_until).toBe(new Date(now - 20_000).toISOString())
    expect(idsOf(rows).sort()).toEqual(idsOf([first, second]).sort())
  } finally {
    vi.useRealTimers()
  }
})
