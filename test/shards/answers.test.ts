/** Data on two shards is answered as if one server had all of it, with the grants in the guides. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, openDatabases } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateDatabases } from '../../collector/platform/clickhouse/migrateDatabases.ts'
import { shardOf } from '../../collector/platform/clickhouse/shards.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { seededNumbers } from '../api/analytics/seededNumbers.ts'
import {
  eventOf,
  linkOf,
  openEvents,
  organizationId,
  projectId,
  type Row,
} from '../api/events/harness.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { documentedGrants, type Shards, startShards } from '../harness/shards.ts'

type Events = Awaited<ReturnType<typeof openEvents>>

const dayMs = 86_400_000
const minuteMs = 60_000
/** A midnight: all that is asked for lies before it. */
const end = Math.floor(Date.now() / dayMs) * dayMs
/** On the other shard. */
const otherProject = projectOn(1 - shardOf(projectId, 2))
const pixels = Array.from({ length: 8 }, () => randomUUID())
/** The service finds it in PostgreSQL where a request names the pixel alone. */
const projectOf = (pixel: string) => (pixels.indexOf(pixel as never) < 5 ? projectId : otherProject)
const hemOf = (n: number) => createHash('sha256').update(`person ${n}`).digest('hex')

let directory: string
let shards: Shards
let one: Events
let two: Events
let postgres: Postgres

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-shards-'))
  shards = await startShards(directory, 2, { grants: documentedGrants() })
  postgres = openPostgres(await newPostgresDatabase(), () => {})
  const { cluster, database } = shards
  await migrateDatabases(cluster, database, postgres, () => {})
  const env = { FOOTFALL_READ_SECONDS_MAX: '45' }
  one = await openEvents({ env, isAlone: true })
  // A read that queries all shards, though it needs some projects alone, is an error.
  const live = openDatabase(cluster, database, { force_optimize_skip_unused_shards: 1 })
  two = await openEvents({ env, on: { ...openDatabases(cluster, database), live } })
  const { events, ...known } = dataSet()
  for (const each of [one, two]) {
    await each.insertHits(events)
    await each.know(known)
    await each.postgres.query(
      "INSERT INTO collectors (collector_id, hostname, complete_until_ms) VALUES ($1, 'here', $2)",
      [randomUUID(), Date.now()],
    )
  }
})
afterAll(async () => {
  await one.close()
  await two.close()
  await postgres.end()
  await shards.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Visitors who go from one pixel of a project to the next, half of them people, some of those of a company. */
function dataSet(): { events: Row[]; links: Row[]; profiles: Row[] } {
  const below = seededNumbers(11)
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!
  const events: Row[] = []
  const links: Row[] = []
  for (let visitor = 0; visitor < 60; visitor++) {
    const cookie_id = randomUUID()
    if (visitor % 2 === 0) links.push(linkOf(cookie_id, hemOf(visitor % 24)))
    let at = end - 6 * dayMs + below(4 * dayMs)
    for (let n = 1 + below(30); n > 0; n--) {
      const project_id = pick([projectId, projectId, otherProject])
      const place = project_id === projectId ? pixels.slice(0, 5) : pixels.slice(5)
      events.push(
        eventOf(at, 0, {
          cookie_id,
          project_id,
          pixel_id: pick(place),
          event_type: pick(['page_view', 'page_view', 'click', 'custom']),
          country: pick(['DE', 'US', null]),
          page_path: pick(['/', '/pricing', '/docs', null]),
          event_data: JSON.stringify({ n: String(below(3)) }),
          ...(below(20) === 0 && {
            source: 'svcdsp',
            campaign_id: pick(['spring', 'autumn']),
            spend: 0.5,
          }),
          ...(below(9) === 0 && { organization_id: randomUUID() }),
          received_at: new Date(at + below(90) * minuteMs).toISOString(),
        }),
      )
      at += pick([1, 9 * minuteMs, 30 * minuteMs - 1, 30 * minuteMs, 7 * 60 * minuteMs])
    }
  }
  const profiles = Array.from({ length: 20 }, (_, n) => ({
    hem: hemOf(n),
    first_name: `Name ${n}`,
    pte_person_id: `p${n >> 1}`,
    company_domain: n % 3 === 0 ? `company${n % 4}.example` : '',
    updated_at: new Date(end - n * minuteMs).toISOString(),
  }))
  return { events, links, profiles }
}

type Query = Record<string, string>

const filters = [
  'country:eq:DE',
  'country:ne:DE',
  'event_type:in:click|custom',
  'page_path:like:/%',
  'resolved:eq:true',
  'resolved:eq:false',
  'event_data.n:eq:1',
  'is_entry:eq:true',
]
const paidFilters = [
  `hem:eq:${hemOf(4)}`,
  `hem:ne:${hemOf(4)}`,
  'first_name:like:Name 1%',
  'company_domain:ne:company0.example',
]
const places: Query[] = [
  {},
  { project_id: projectId },
  { project_id: otherProject },
  ...pixels.slice(3, 7).map((pixel_id) => ({ pixel_id, project_id: projectOf(pixel_id) })),
]

const within = fc
  .record({
    place: fc.constantFrom(...places),
    from: fc.integer({ min: 0, max: 5 * 24 }),
    hours: fc.integer({ min: 1, max: 6 * 24 }),
  })
  .map(({ place, from, hours }) => ({
    ...place,
    start_ms: String(end - 6 * dayMs + from * 60 * minuteMs),
    end_ms: String(Math.min(end, end - 6 * dayMs + (from + hours) * 60 * minuteMs)),
  }))

const filter = (values: readonly string[]) =>
  fc
    .uniqueArray(fc.constantFrom(...values), { maxLength: 2 })
    .map((some): Query => (some.length > 0 ? { filter: some.join(',') } : {}))

const oneOf = <T extends Query>(...queries: T[]) => fc.constantFrom<Query>({}, ...queries)

/** Pages of all tiers, which are followed to their end. */
const pages = fc
  .tuple(
    fc.constantFrom('web_event', 'resolution_hem', 'resolution_hem_pte', 'resolution_full_profile'),
    within,
    fc.constantFrom('7', '100', '1000'),
    oneOf({ order: 'asc' }, { order: 'received' }),
    oneOf({ distinct: 'cookie_id' }, { select: 'event_id,timestamp,session_id,is_entry,hem' }),
  )
  .chain(([tier, window, limit, order, more]) =>
    filter(tier === 'resolution_full_profile' ? [...filters, ...paidFilters] : filters).map(
      (filtered) => ({
        path: `/api/v3/events/${tier}`,
        query: { ...window, limit, ...order, ...more, ...filtered },
      }),
    ),
  )

const of = (path: string, ...queries: Query[]) =>
  fc
    .tuple(within, filter(filters), fc.constantFrom(...queries))
    .map(([window, filtered, more]) => ({
      path,
      query: { ...window, ...filtered, ...more } as Query,
    }))

const others = fc.oneof(
  of(
    '/api/v3/events/web_event/counts',
    {},
    { group_by: 'pixel_id' },
    { group_by: 'day,event_type' },
    { group_by: 'is_entry,source' },
    { distinct: 'cookie_id,page_path' },
  ),
  of(
    '/api/v3/events/resolution_full_profile/visitors',
    { limit: '100' },
    { limit: '100', kind: 'accounts' },
    { limit: '5' },
    { limit: '100', select: 'session_id,hem' },
  ).filter(({ query }) => 'project_id' in query || 'pixel_id' in query),
  of('/api/v1/analytics/overview', {}, { compare: 'previous' }),
  of('/api/v1/analytics/timeseries', { interval: 'hour' }),
  of(
    '/api/v1/analytics/breakdown',
    { dimensions: 'page_path,country' },
    { dimensions: 'entry_page' },
  ),
  of('/api/v1/analytics/funnel', { steps: 'page_path:eq:/;event_type:eq:click' }),
  of('/api/v1/analytics/retention', { interval: 'day' }),
  of('/api/v1/analytics/journeys', {}, { steps: '2' }),
  within.map((window) => ({
    path: '/api/v1/resolution/statistics',
    query: { ...window, group_by: 'day,pixel' } as Query,
  })),
)

/** What an answer says, without what differs from one answer to the next. */
function said(body: string): Row {
  const { request_id: _, meta, ...rest } = JSON.parse(body) as Row
  const {
    next_cursor: _cursor,
    request_id: _id,
    complete_until: _until,
    ...told
  } = (meta ?? {}) as Row
  return { ...rest, meta: told }
}

async function ask(
  events: Events,
  path: string,
  query: Query,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  const { steps, start_ms, end_ms, ...place } = query
  const answer = path.endsWith('/funnel')
    ? await events.app.inject({
        method: 'POST',
        url: path,
        payload: {
          ...place,
          start_ms: Number(start_ms),
          end_ms: Number(end_ms),
          steps: steps!.split(';'),
        },
      })
    : await events.app.inject({ url: `${path}?${new URLSearchParams(query)}`, headers })
  return { status: answer.statusCode, body: answer.body }
}

test('pages of all tiers, by cursor to their end', async () => {
  let rows = 0
  await fc.assert(
    fc.asyncProperty(pages, async ({ path, query }) => {
      let [first, second]: [Query, Query] = [{}, {}]
      for (let page = 0; page < 12; page++) {
        // A charge that can be repeated needs other queries.
        const headers = page % 2 === 0 ? { 'idempotency-key': randomUUID() } : {}
        const [expected, got] = await Promise.all([
          ask(one, path, { ...query, ...first }, headers),
          ask(two, path, { ...query, ...second }, headers),
        ])
        expect(got.status, got.body).toBe(expected.status)
        expect(said(got.body)).toEqual(said(expected.body))
        // What cannot be asked together is refused.
        if (expected.status === 400) break
        expect(expected.status, expected.body).toBe(200)
        const [a, b] = [expected, got].map(({ body }) => JSON.parse(body))
        rows += a.rows.length
        if (!a.meta.next_cursor) break
        ;[first, second] = [{ cursor: a.meta.next_cursor }, { cursor: b.meta.next_cursor }]
      }
    }),
    { numRuns: 60, seed: 3 },
  )
  expect(rows).toBeGreaterThan(2_000)
}, 600_000)

test('counts, visitors and figures', async () => {
  await fc.assert(
    fc.asyncProperty(others, async ({ path, query }) => {
      const [expected, got] = await Promise.all([ask(one, path, query), ask(two, path, query)])
      expect(got.status, got.body).toBe(expected.status)
      expect(expected.status, `${path} ${JSON.stringify(query)} ${expected.body}`).toBe(200)
      expect(said(got.body)).toEqual(said(expected.body))
    }),
    { numRuns: 90, seed: 5 },
  )
}, 600_000)

test('what a page would look at is what its projects’ shards look at for it', async () => {
  const estimate = async (events: Events, query: Query) => {
    const window = { start_ms: String(end - 6 * dayMs), end_ms: String(end) }
    const { status, body } = await ask(events, '/api/v1/events/scan_estimate', {
      ...window,
      ...query,
    })
    expect(status, body).toBe(200)
    return JSON.parse(body).estimate as Record<'rows' | 'bytes' | 'parts' | 'marks', number>
  }
  const counts = await Promise.all(
    two.clickhouse.live.shards.map((shard) =>
      shard.rows<{ events: number }>({
        sql: 'SELECT count() AS events FROM events_local',
        params: {},
      }),
    ),
  )
  const events = counts.map(([row]) => row!.events)
  const [own, all] = [events[shardOf(projectId, 2)]!, events[0]! + events[1]!]
  for (const more of [
    {},
    { filter: 'is_entry:eq:true' },
    { select: 'event_id,first_name' },
  ] as Query[]) {
    const query = { project_id: projectId, ...more }
    const [expected, got] = [await estimate(one, query), await estimate(two, query)]
    // So few events are in one granule, which is read completely.
    expect(got.rows / expected.rows).toBe(own / all)
    expect(got.rows).toBeGreaterThan(400)
    expect(got.bytes / expected.bytes).toBeGreaterThan(0.5)
    expect(got.bytes / expected.bytes).toBeLessThan(2)
  }
  const ofAll = { organization_id: organizationId }
  const ofOrganization = [await estimate(one, ofAll), await estimate(two, ofAll)]
  expect(ofOrganization[1]!.rows).toBe(ofOrganization[0]!.rows)
}, 600_000)

/** Returns a project on this shard of two, from 0. */
function projectOn(shard: number): ReturnType<typeof randomUUID> {
  let id = randomUUID()
  while (shardOf(id, 2) !== shard) id = randomUUID()
  return id
}

/** A server that loses another sometimes ends by a fault of its own, and is started again: 503 until then. */
const restartMs = 120_000

async function untilThere<Answer extends { status: number }>(
  request: () => Promise<Answer>,
): Promise<Answer> {
  let answer = await request()
  await waitFor(
    'the other server',
    async () => {
      if (answer.status === 503) answer = await request()
      return answer.status !== 503
    },
    restartMs,
  )
  return answer
}

test('a read of a project needs its shard alone: of one that is away it is 503 busy', async () => {
  const [here, gone] =
    shardOf(projectId, 2) === 0 ? [projectId, otherProject] : [otherProject, projectId]
  await shards.servers[1]!.stop()
  const window = { start_ms: String(end - 6 * dayMs), end_ms: String(end) }
  const paths: [string, Query][] = [
    ['/api/v3/events/web_event', { limit: '1000' }],
    ['/api/v3/events/resolution_full_profile', { limit: '100', select: 'session_id,first_name' }],
    ['/api/v3/events/web_event/counts', { group_by: 'day' }],
    ['/api/v3/events/resolution_full_profile/visitors', { limit: '100' }],
  ]
  for (const [path, more] of paths) {
    const read = (events: Events, project_id: string) =>
      ask(events, path, { ...window, ...more, project_id })
    const got = await untilThere(() => read(two, here))
    expect(got.status, `${path} ${got.body}`).toBe(200)
    expect(said(got.body)).toEqual(said((await read(one, here)).body))
    const busy = { status: 503, body: expect.stringContaining('"busy"') }
    expect(await read(two, gone), path).toMatchObject(busy)
  }
  expect(await ask(two, '/api/v3/events/web_event', window)).toMatchObject({ status: 503 })
}, 600_000)
