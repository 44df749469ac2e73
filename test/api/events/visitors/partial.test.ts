import { closeSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventOf, linkOf, openEvents, projectId, type Row } from '../harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  // It damages the files of its tables.
  events = await openEvents({ isAlone: true })
})
afterAll(() => events.close())

/** The middle of a month long past, and of the one after. */
const [early, late] = [Date.UTC(2026, 2, 15), Date.UTC(2026, 3, 15)]
const hourMs = 3_600_000
const hems = Array.from({ length: 6 }, (_, index) => `${index + 1}`.repeat(64))
const event = (at: number, index: number) =>
  eventOf(at, 0, { cookie_id: `00000000-0000-4000-8000-00000000000${index}` })
const inMarch = [event(early, 0), event(early + hourMs, 1), event(early + 2 * hourMs, 2)]
const inApril = [event(late, 3), event(late + hourMs, 4), event(late + 2 * hourMs, 5)]

beforeEach(async () => {
  await events.clickhouse.live.command({ sql: 'TRUNCATE TABLE events', params: {} })
  await events.insert([...inMarch, ...inApril])
  const links = hems.map((hem, index) => linkOf(`00000000-0000-4000-8000-00000000000${index}`, hem))
  await events.know({ links, profiles: hems.map((hem) => ({ hem, first_name: 'Somebody' })) })
})

const ask = (query: Record<string, string> = {}, tier = 'resolution_full_profile', headers = {}) =>
  events.get(
    `events/${tier}/visitors`,
    {
      project_id: projectId,
      start_ms: String(early - 20 * 24 * hourMs),
      end_ms: String(late + 20 * 24 * hourMs),
      limit: '50',
      ...query,
    },
    headers,
  )
const seen = (answer: { visitors: Row[] }) => answer.visitors.map(({ event_id }) => event_id)
const newestFirst = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id).reverse()

/** The directory of the only part of a month. */
async function partOf(month: string): Promise<{ name: string; path: string }> {
  const [part] = await events.clickhouse.live.rows<{ name: string; path: string }>({
    sql: `SELECT name, path FROM system.parts
          WHERE database = currentDatabase() AND table = 'events' AND active AND partition_id = {month:String}`,
    params: { month },
  })
  return part!
}

/** Overwrites the data of a part, whose checksums then fail. */
function damage(path: string): void {
  for (const file of readdirSync(path).filter((name) => name.endsWith('.bin'))) {
    const descriptor = openSync(join(path, file), 'r+')
    writeSync(descriptor, Buffer.alloc(statSync(join(path, file)).size, 0x5a), 0)
    closeSync(descriptor)
  }
}

test('where all can be read, nothing is missing', async () => {
  const answer = (await ask()).json()
  expect(answer).toMatchObject({ count: 6, has_partial_data: false })
  expect(seen(answer)).toEqual(newestFirst([...inMarch, ...inApril]))
})

test.each(['application/json', 'application/x-ndjson', 'text/csv'])(
  'of a month whose file is damaged only the others’ visitors are returned, as %s, and charged',
  async (accept) => {
    damage((await partOf('202603')).path)
    const answer = await ask({}, 'resolution_full_profile', { accept })
    expect(answer.statusCode).toBe(200)
    for (const { event_id } of inApril) expect(answer.body).toContain(event_id)
    for (const { event_id } of inMarch) expect(answer.body).not.toContain(event_id)
    expect(answer.headers['x-footfall-charged']).toBe('3')
    if (accept !== 'application/json')
      expect(answer.headers['x-footfall-has-partial-data']).toBe('true')
    else expect(answer.json()).toMatchObject({ count: 3, has_partial_data: true })
  },
)

test('a page of events of a damaged month is answered 503 with a message, and not charged', async () => {
  damage((await partOf('202603')).path)
  const windowFrom = (startMs: number) => ({
    project_id: projectId,
    start_ms: String(startMs),
    end_ms: String(late + 20 * 24 * hourMs),
  })
  for (const tier of ['web_event', 'resolution_full_profile']) {
    const answer = await events.get(`events/${tier}`, windowFrom(early - hourMs))
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({
      error: 'busy',
      message: expect.stringContaining('cannot read a part of the stored data'),
    })
    expect(answer.headers).toMatchObject({ 'retry-after': '60' })
    expect(answer.headers).not.toHaveProperty('x-footfall-charged')
    const other = await events.get(`events/${tier}`, windowFrom(late - hourMs))
    expect(other.json().rows).toHaveLength(3)
  }
})

test('a window beside the damage is whole', async () => {
  damage((await partOf('202603')).path)
  const answer = (await ask({ start_ms: String(late - hourMs) })).json()
  expect(answer).toMatchObject({ count: 3, has_partial_data: false })
})

test('of a month that is damaged in one place, what lies before and after it is returned', async () => {
  await events.clickhouse.live.command({ sql: 'TRUNCATE TABLE events', params: {} })
  // An event a second for sixteen hours; of one column a file of eight blocks, the fifth of which is damaged.
  const count = 60_000
  const visitorAt = (n: number) => (n < 20_000 ? 0 : n < 50_000 ? 1 : 2)
  const rows = Array.from({ length: count }, (_, n) => event(early + n * 1_000, visitorAt(n)))
  await events.insert(rows)
  const file = join((await partOf('202603')).path, 'ts_millis.bin')
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(16, 0x5a), 0, 16, Math.floor(statSync(file).size * 0.6))
  closeSync(descriptor)

  const answer = (
    await ask({ start_ms: String(early), end_ms: String(early + count * 1_000) })
  ).json()
  expect(seen(answer)).toEqual(
    [rows[59_999]!, rows[49_999]!, rows[19_999]!].map(({ event_id }) => event_id),
  )
  expect(answer).toMatchObject({ count: 3, has_partial_data: true })
})

test('a part that ClickHouse put aside as broken when it started is told of, for windows of its month', async () => {
  const { path, name } = await partOf('202603')
  const { live } = events.clickhouse
  await live.command({ sql: 'DETACH TABLE events SYNC', params: {} })
  rmSync(join(path, 'columns.txt'))
  rmSync(join(path, 'checksums.txt'))
  for (const file of readdirSync(path).filter((one) => one.startsWith('primary')))
    rmSync(join(path, file))
  await live.command({ sql: 'ATTACH TABLE events', params: {} })
  const aside = await live.rows<{ reason: string }>({
    sql: `SELECT reason FROM system.detached_parts WHERE database = currentDatabase() AND table = 'events'`,
    params: {},
  })
  expect({ name, reasons: aside.map(({ reason }) => reason) }).toEqual({
    name,
    reasons: ['broken-on-start'],
  })

  expect((await ask()).json()).toMatchObject({ count: 3, has_partial_data: true })
  expect((await ask({ start_ms: String(late - hourMs) })).json()).toMatchObject({
    count: 3,
    has_partial_data: false,
  })
})
