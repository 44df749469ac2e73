import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { rebuildHits } from '../../../collector/analytics/hits/rebuildHits.ts'
import { createOpenQueryExecutor } from '../../../collector/api/access/queryExecutor.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { storeOrganization, storePixel, storeProject } from '../../harness/owners.ts'
import { waitFor } from '../../harness/service.ts'
import { eventOf, openEvents, organizationId, pixelId, projectId } from './harness.ts'

type Events = Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }

describe('a read that takes more than it may', () => {
  let events: Events
  /** The permitted hundred, each about another value. */
  const hundred = Array.from({ length: 100 }, (_, index) =>
    index % 2 === 0 ? `event_data.screen.k${index}:ne:x` : `event_data.title:ne:x${index}`,
  ).join(',')

  beforeAll(async () => {
    // It stores a million events.
    events = await openEvents({
      isAlone: true,
      env: { FOOTFALL_READ_SECONDS_MAX: '1', FOOTFALL_READ_MEMORY_MB_MAX: '64' },
    })
    await events.clickhouse.live.command({
      sql: `INSERT INTO events (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data,
              cookie_id, client_ip, page_url, device_type, received_at, spool_id)
            SELECT {organizationId:UUID}, {projectId:UUID}, {pixelId:UUID}, generateUUIDv4(number), 'page_view',
              {now:Int64} - 1 - intDiv(number, 1000),
              concat('{"title":"Pot ', toString(number), '","screen":{"height":1080,"width":1920}}'),
              generateUUIDv4(number + 1), '203.0.113.7', 'https://shop.example/', 'desktop', now(), generateUUIDv4()
            FROM numbers(1300000)`,
      params: { organizationId, projectId, pixelId, now },
    })
  })
  afterAll(() => events.close())

  test('is 400 and names the window: a hundred filters over 1.3 million events in a second', async () => {
    const answer = await events.get('events/web_event/counts', { ...window, filter: hundred })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      error: 'query_too_heavy',
      parameter: 'start_ms',
      start_ms: Number(window.start_ms),
      end_ms: Number(window.end_ms),
      message: expect.stringMatching(
        /^The window from .* (longer than 1 seconds|more memory than one request)/,
      ),
    })
  })

  test('does not keep the next one from its answer', async () => {
    // Few enough events for a slow machine to count in a second.
    const short = { start_ms: String(now - 50), end_ms: window.end_ms }
    const answer = await events.get('events/web_event/counts', short)
    expect(answer.json()).toMatchObject({ total: 50_000 })
  })
})

test('an answer that is too large to parse is 400, and a smaller one is not', async () => {
  const events = await openEvents()
  const project_id = randomUUID()
  await events.clickhouse.live.command({
    sql: `INSERT INTO events (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data,
            cookie_id, client_ip, page_url, device_type, received_at, spool_id)
          SELECT {organizationId:UUID}, {projectId:UUID}, {pixelId:UUID}, generateUUIDv4(number), 'page_view',
            {now:Int64} - 1 - number, concat('{"a":{"b":"', toString(number), repeat('x', 60000), '"}}'),
            generateUUIDv4(number + 1), '203.0.113.7', 'https://shop.example/', 'desktop', now(), generateUUIDv4()
          FROM numbers(1001)`,
    params: { organizationId, projectId: project_id, pixelId, now },
  })
  await rebuildHits(events.clickhouse.live, [project_id])
  const breakdown = (limit: string) => {
    const dimensions = 'event_data.a,event_data.a.b'
    const query = new URLSearchParams({ ...window, project_id, dimensions, limit })
    return events.app.inject({ url: `/api/v1/analytics/breakdown?${query}` })
  }
  const refused = await breakdown('1000')
  expect(refused.statusCode).toBe(400)
  expect(refused.json()).toMatchObject({
    error: 'query_too_heavy',
    message: expect.stringContaining('its answer is too large'),
  })
  const answered = await breakdown('100')
  expect(answered.statusCode).toBe(200)
  const { breakdowns } = answered.json()
  expect(breakdowns['event_data.a.b'].values).toHaveLength(100)
  expect(breakdowns['event_data.a.b'].values[0].value.length).toBeGreaterThan(60_000)
})

test('several filters into the payload find what each of them finds alone', async () => {
  const events = await openEvents()
  const project_id = randomUUID()
  const payloads = [
    {
      url: 'a',
      n: 12,
      o: { p: { q: 'deep' } },
      list: [1, 2],
      flag: true,
      nothing: null,
      quoted: 'a"b\\ü',
    },
    { url: 'b', n: 1.5, o: ['deep'], list: 'no list' },
    { o: { p: 'shallow' } },
    {},
  ]
  await events.insert(
    payloads.map((payload, index) =>
      eventOf(now, 1000 + index, { project_id, event_data: JSON.stringify(payload) }),
    ),
  )
  const filters = [
    'event_data.url:eq:a',
    'event_data.url:ne:a',
    'event_data.n:gte:1.5',
    'event_data.n:eq:12',
    'event_data.o.p.q:eq:deep',
    'event_data.o.p:like:%deep%',
    'event_data.o.p.q:ne:deep',
    'event_data.list:eq:[1,2]',
    'event_data.flag:eq:true',
    'event_data.nothing:ne:x',
    'event_data.quoted:eq:a"b\\ü',
    'event_data.0:ne:1',
    'event_data.o.0:eq:deep',
  ]
  const idsOf = async (filter: string) =>
    (await events.page({ project_id, filter })).rows.map((row) => row.event_id)
  const alone = new Map<string, unknown[]>()
  for (const filter of filters) alone.set(filter, await idsOf(filter))
  for (const [index, first] of filters.entries()) {
    const second = filters[(index + 1) % filters.length]!
    const both = alone.get(first)!.filter((id) => alone.get(second)!.includes(id))
    expect({ first, second, ids: await idsOf(`${first},${second}`) }).toEqual({
      first,
      second,
      ids: both,
    })
  }
})

describe('with a ClickHouse that takes its time', () => {
  /** It takes every query and answers none. */
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    socket.on('data', () => sockets.add(socket)).on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  let events: Events
  let url: string
  let campaign: string

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    events = await openEvents({
      readsFrom: openClickHouse(`http://127.0.0.1:${port}`, 'slow'),
    })
    await storeOrganization(events.postgres, organizationId, 'Shops')
    await storeProject(events.postgres, projectId, organizationId, 'A project')
    await storePixel(events.postgres, pixelId, projectId, 'A pixel')
    const made = await events.app.inject({
      method: 'POST',
      url: '/api/v1/campaigns',
      payload: { project_id: projectId, name: 'Spring', start_date: '2026-03-01' },
    })
    campaign = made.json().campaign.campaign_id
    url = await events.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await events.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  const scope = `project_id=${projectId}&start_ms=${window.start_ms}&end_ms=${window.end_ms}`
  const hem = 'a'.repeat(64)
  const body = (json: unknown) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  const reads: [string, string, RequestInit?][] = [
    ['a page', `/api/v3/events/web_event?${scope}`],
    ['counts', `/api/v3/events/web_event/counts?${scope}`],
    ['visitors', `/api/v3/events/resolution_hem/visitors?${scope}&limit=1`],
    ['events of version 1', `/api/v1/events?${scope}`],
    ['events of version 2', `/api/v2/events?${scope}`],
    ['counts of version 1', `/api/v1/event_counts?${scope}`],
    ['their index', `/api/v1/event_counts_index?${scope}`],
    ['a scan estimate', `/api/v1/events/scan_estimate?${scope}`],
    ['statistics', `/api/v1/resolution/statistics?${scope}`],
    ['a lookup', `/api/v1/lookup?hem=${hem}`],
    ['a batch', '/api/v1/lookup/batch', body({ items: [{ hem }] })],
    ['a company', '/api/v1/lookup/company?domain=shop.example'],
    ['contacts', '/api/v1/contact/query', body({ filter: 'first_name:eq:Ann' })],
    ['rejected events', '/api/v1/rejected_events'],
    ['a pixel’s activity', `/api/v1/pixel/activity/${pixelId}`],
    ['what a campaign did', '/api/v1/campaigns/:campaign/performance'],
    ['a campaign’s budget', '/api/v1/campaigns/:campaign/budget-status'],
    ['what campaigns did', `/api/v1/campaigns/performance-summary?project_id=${projectId}`],
    ['campaigns’ budgets', `/api/v1/campaigns/budget-summary?project_id=${projectId}`],
    ['a privacy export', `/api/v1/privacy/subject?hem=${hem}`],
  ]

  test.each(reads)('a caller who leaves ends the query of %s', async (_name, path, init = {}) => {
    const leaving = new AbortController()
    const asked = fetch(url + path.replace(':campaign', campaign), {
      ...init,
      signal: leaving.signal,
    }).catch(() => {})
    await waitFor('the query', () => sockets.size > 0)
    leaving.abort()
    await asked
    await waitFor('its end', () => sockets.size === 0)
  })

  test('more scans than may wait are 503 busy with Retry-After, and take nothing from another organization', async () => {
    const leaving = new AbortController()
    const organization = randomUUID()
    const count = (headers: Record<string, string>) =>
      fetch(`${url}/api/v3/events/web_event/counts?${scope}`, { headers, signal: leaving.signal })
    const waiting = Array.from({ length: 34 }, () =>
      count({ 'x-organization': organization }).catch(() => {}),
    )
    // Two of them are let in.
    const refused = await waitFor('a refusal', async () => {
      const answer = await Promise.race([
        count({ 'x-organization': organization }),
        new Promise<null>((resolve) => setTimeout(resolve, 500, null)),
      ])
      return answer?.status === 503 ? answer : null
    })
    expect(await refused.json()).toMatchObject({ error: 'busy' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const inside = sockets.size
    expect(inside).toBeLessThanOrEqual(2)
    const neighbour = count({ 'x-organization': randomUUID() }).catch(() => {})
    await waitFor('the query of another organization', () => sockets.size > inside)
    leaving.abort()
    await Promise.all([...waiting, neighbour])
    await waitFor('their end', () => sockets.size === 0)
  })
})

describe('conditions that are too long for ClickHouse are 400', () => {
  let events: Events
  beforeAll(async () => {
    events = await openEvents()
  })

  const paths = (count: number, step: number) =>
    Array.from({ length: count }, (_, index) => `event_data.k${index}.s${step}.x:ne:y`).join(',')
  test.each([
    ['many values', Array.from({ length: 10 }, (_, step) => paths(100, step))],
    ['a long value', [`page_path:eq:/${'x'.repeat(200_000)}`, 'event_type:eq:click']],
  ])('%s', async (_, steps) => {
    const answer = await events.app.inject({
      method: 'POST',
      url: '/api/v1/analytics/funnel',
      payload: { project_id: projectId, start_ms: now - 3_600_000, end_ms: now, steps },
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'query_too_heavy' })
  })
})

test('a query whose SQL is longer than ClickHouse reads is 400', async () => {
  const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  const openQueryExecutor = createOpenQueryExecutor(
    { live: clickhouse, test: clickhouse },
    { secondsMax: 60, memoryBytesMax: 64 * 1024 * 1024, scanThreads: 1 },
  )
  const by = { effort: 'scan', signal: new AbortController().signal } as const
  await expect(
    openQueryExecutor({ organizationId, mode: 'live' }, by).rows({
      sql: `SELECT '${'x'.repeat(300_000)}'`,
      params: {},
    }),
  ).rejects.toMatchObject({ status: 400, error: 'query_too_heavy' })
  await clickhouse.close()
})

test('a query that takes more memory than it may is 400 and names the window', async () => {
  const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  const openQueryExecutor = createOpenQueryExecutor(
    { live: clickhouse, test: clickhouse },
    { secondsMax: 60, memoryBytesMax: 64 * 1024 * 1024, scanThreads: 1 },
  )
  const by = {
    effort: 'scan',
    signal: new AbortController().signal,
    window: { startMs: 0, endMs: 1000 },
  } as const
  const asked = openQueryExecutor({ organizationId, mode: 'live' }, by).rows({
    sql: 'SELECT uniqExact(number) FROM numbers(50000000)',
    params: {},
  })
  await expect(asked).rejects.toMatchObject({
    status: 400,
    error: 'query_too_heavy',
    message: expect.stringMatching(
      /^The window from 1970-01-01T00:00:00.000Z .* more memory than one request/,
    ),
  })
  await clickhouse.close()
})

test('a query ends in ClickHouse itself when its caller leaves', async () => {
  const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  const leaving = new AbortController()
  const openQueryExecutor = createOpenQueryExecutor(
    { live: clickhouse, test: clickhouse },
    { secondsMax: 60, memoryBytesMax: 1e9, scanThreads: 1 },
  )
  const queryExecutor = openQueryExecutor(
    { organizationId, mode: 'live' },
    { effort: 'page', signal: leaving.signal },
  )
  const marker = randomUUID()
  const running = async () => {
    const [found] = await clickhouse.rows<{ queries: number }>({
      sql: `SELECT count() AS queries FROM system.processes
            WHERE position(query, {marker:String}) > 0 AND position(query, 'system.processes') = 0`,
      params: { marker },
    })
    return found!.queries
  }
  const asked = queryExecutor.rows({
    sql: `SELECT '${marker}', sleepEachRow(0.1) FROM numbers(600) SETTINGS max_block_size = 1`,
    params: {},
  })
  asked.catch(() => {})
  await waitFor('the query', async () => (await running()) === 1)
  leaving.abort()
  await expect(asked).rejects.toThrow('the client disconnected')
  await waitFor('its end', async () => (await running()) === 0)
  await clickhouse.close()
})
