import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ClickHouseRefused } from '../../../collector/platform/storeErrors.ts'
import {
  eventOf,
  openEvents,
  organizationId,
  type PageBody,
  pixelId,
  projectId,
} from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
// At only five instants, so that pages end between events of the same millisecond.
const stored = Array.from({ length: 60 }, (_, n) =>
  eventOf(now, 60_000 + (n % 5) * 1_000, { page_url: `line one\n"quoted"\n${n}` }),
)

beforeAll(async () => {
  events = await openEvents()
  await events.postgres.query(
    "INSERT INTO organizations (organization_id, name) VALUES ($1, 'O')",
    [organizationId],
  )
  await events.insert(stored)
})
afterAll(() => events.close())
beforeEach(async () => {
  await events.postgres.query('DELETE FROM usage_limits')
})

async function pagesOf(
  query: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<PageBody[]> {
  const answer = await events.get('events/web_event', { ...window, ...query }, headers)
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
  expect(answer.body.endsWith('\n')).toBe(true)
  return answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Records of each charge, by the id of its request. */
async function charges(): Promise<Map<string, number>> {
  const { rows } = await events.postgres.query<{ request_id: string; records: number }>(
    `SELECT request_id, records::int FROM ledger WHERE kind = 'charge'`,
  )
  return new Map(rows.map(({ request_id, records }) => [request_id, records]))
}

/** The charges that were made since `before`. */
const chargesSince = async (before: ReadonlyMap<string, number>) =>
  new Map([...(await charges())].filter(([id]) => !before.has(id)))

const idsOf = (pages: readonly PageBody[]) =>
  pages.flatMap(({ rows }) => rows.map(({ event_id }) => event_id))

describe('several pages in one answer', () => {
  test.each([
    ['newest first', {}],
    ['oldest first', { order: 'asc' }],
    ['with a filter', { filter: 'page_url:like:%1%' }],
    ['with distinct', { distinct: 'ts_millis' }],
    ['with chosen columns', { select: 'event_id,page_url,ts_millis' }],
    ['of one project', { project_id: projectId }],
  ])('%s have the rows of one long page, each once', async (_, more) => {
    const { rows: whole } = await events.page({ ...window, limit: '1000', ...more })
    for (const limit of [1, 7, 59, 60, 61]) {
      const pages = await pagesOf({ limit: String(limit), pages: '100', ...more })
      expect(pages.flatMap(({ rows }) => rows)).toEqual(whole)
      expect(pages).toHaveLength(Math.ceil(whole.length / limit))
      for (const [at, { rows, meta }] of pages.entries()) {
        expect(meta.records).toBe(rows.length)
        expect(meta.has_more).toBe(at < pages.length - 1)
        expect(meta.next_cursor === undefined).toBe(at === pages.length - 1)
      }
    }
  })

  test('without events are one empty page, which is free', async () => {
    const before = await charges()
    const [page, ...others] = await pagesOf({ filter: 'page_url:eq:nowhere', pages: '3' })
    expect(others).toEqual([])
    expect(page).toMatchObject({ rows: [], meta: { records: 0, charged: 0, has_more: false } })
    expect(await charges()).toEqual(before)
  })

  test('have a charge each, under the request_id of their meta', async () => {
    const before = await charges()
    const pages = await pagesOf({ limit: '25', pages: '100' })
    expect(pages.map(({ meta }) => meta.charged)).toEqual([25, 25, 10])
    expect(await chargesSince(before)).toEqual(
      new Map(pages.map(({ meta }) => [meta.request_id, meta.records])),
    )
  })

  test('end after the pages that were asked for, and the last cursor continues', async () => {
    const first = await pagesOf({ limit: '7', pages: '3' })
    expect(first).toHaveLength(3)
    const { next_cursor } = first.at(-1)!.meta
    const others = await pagesOf({ limit: '7', pages: '100', cursor: next_cursor! })
    const { rows: whole } = await events.page({ ...window, limit: '1000' })
    expect([...idsOf(first), ...idsOf(others)]).toEqual(idsOf([{ rows: whole } as PageBody]))
  })

  test('end where a limit refuses the next page, which a further request reports', async () => {
    const { rows } = await events.postgres.query<{ used: number }>(
      `SELECT coalesce(sum(records), 0)::int AS used FROM ledger WHERE meter = 'events'`,
    )
    await events.postgres.query(`INSERT INTO usage_limits VALUES ($1, 'events', $2, NULL)`, [
      organizationId,
      rows[0]!.used + 20,
    ])
    const before = await charges()
    const pages = await pagesOf({ limit: '10', pages: '100' })
    expect(pages.map(({ meta }) => meta.charged)).toEqual([10, 10])
    expect((await chargesSince(before)).size).toBe(2)
    const refused = await events.get('events/web_event', {
      ...window,
      limit: '10',
      pages: '2',
      cursor: pages.at(-1)!.meta.next_cursor!,
    })
    expect(refused.statusCode).toBe(429)
  })

  test('that were charged in a broken answer are free with its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const whole = await pagesOf({ limit: '20', pages: '100' }, headers)
    expect(whole.map(({ meta }) => meta.charged)).toEqual([20, 20, 20])
    const before = await charges()
    // As if only the first page had arrived: its cursor repeats the others, with any number of pages.
    let cursor: string | undefined = whole[0]!.meta.next_cursor
    const repeated: PageBody[] = []
    while (cursor) {
      const pages = await pagesOf({ limit: '20', pages: '50', cursor }, headers)
      repeated.push(...pages)
      cursor = pages.at(-1)!.meta.next_cursor
    }
    expect(idsOf(repeated)).toEqual(idsOf(whole.slice(1)))
    expect(repeated.every(({ meta }) => meta.charged === 0)).toBe(true)
    expect(await chargesSince(before)).toEqual(new Map())
    // A free page that is full does not reveal whether another row follows.
    expect(
      repeated.filter(({ rows }) => rows.length === 20).every(({ meta }) => meta.has_more),
    ).toBe(true)
  })

  test('of large events have fewer rows, and their repeats are free', async () => {
    const startMs = now - 7_200_000
    const count = 1_300
    await events.clickhouse.live.command({
      sql: `INSERT INTO events (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data,
              cookie_id, client_ip, page_url, device_type, received_at, spool_id)
            SELECT {organizationId:UUID}, {projectId:UUID}, {pixelId:UUID}, generateUUIDv4(number), 'page_view',
              {startMs:Int64} + number, concat('{"title":"', repeat('x', 60000), '"}'), generateUUIDv4(number + 1),
              '203.0.113.7', 'https://shop.example/', 'desktop', now(), generateUUIDv4()
            FROM numbers({count:UInt32})`,
      params: { organizationId, projectId, pixelId, startMs, count },
    })
    const query = {
      start_ms: String(startMs),
      end_ms: String(startMs + count),
      select: 'ts_millis,event_id,event_data',
      limit: String(count),
      pages: '9',
    }
    const headers = { 'idempotency-key': randomUUID() }
    const [first, second, ...others] = await pagesOf(query, headers)
    expect(others).toEqual([])
    expect(first!.rows.length).toBeLessThan(count)
    expect(new Set(idsOf([first!, second!])).size).toBe(count)
    expect(first!.meta).toMatchObject({ has_more: true, charged: first!.rows.length })
    expect(second!.meta).toMatchObject({ has_more: false, charged: second!.rows.length })
    const [again] = await pagesOf(query, headers)
    expect(again!.meta.charged).toBe(0)
    const [rest] = await pagesOf({ ...query, cursor: again!.meta.next_cursor! }, headers)
    expect(rest!.meta.charged).toBe(0)
    expect(idsOf([again!, rest!])).toEqual(idsOf([first!, second!]))
  })

  test.each([
    ['pages', { order: 'received' }, {}],
    ['pages', {}, { accept: 'text/csv' }],
    ['pages', {}, { accept: 'application/vnd.apache.parquet' }],
    ['select', { select: 'page_url' }, {}],
    ['pages', { pages: '101' }, {}],
  ])('name %s where they are impossible: %j %j', async (parameter, more, headers) => {
    const answer = await events.get('events/web_event', { ...window, pages: '2', ...more }, headers)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ parameter })
  })

  test('report an error before the first page with its status', async () => {
    const broken = await openEvents({
      readsFrom: {
        ...events.clickhouse.live,
        shards: [events.clickhouse.live],
        stream: async () => {
          throw new ClickHouseRefused('Code: 159. DB::Exception: too long', 159)
        },
      },
    })
    const answer = await broken.get('events/web_event', { ...window, pages: '2' })
    await broken.close()
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'query_too_heavy'])
  })
})
