import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conversionsQuery, isRolledGoal } from '../../../collector/analytics/conversionsQuery.ts'
import { countDays, deleteOldCounts } from '../../../collector/analytics/counting/countDays.ts'
import { analyticsQueues } from '../../../collector/analytics/counting/countingJobs.ts'
import { conditionsOf } from '../../../collector/analytics/goals.ts'
import { readRollup } from '../../../collector/analytics/rollup/rolledDays.ts'
import { eventsWorthCounting, readStaleProjects } from '../../../collector/analytics/rollup/runs.ts'
import { sessionFieldNamed } from '../../../collector/events/query/sessionFields.ts'
import { carryOutErasures, requestErasure } from '../../../collector/identity/privacy/erasures.ts'
import { timeZone, utc } from '../../../collector/platform/timeZone.ts'
import { eventOf, openEvents, organizationId, type Row } from '../events/harness.ts'
import { daysMade, pixels, visits } from './oddVisits.ts'
import { seededNumbers } from './seededNumbers.ts'
import { readerOf } from './sharedReader.ts'

/** Counts of days compared with a read of every event, after any changes of the events. */
let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const dayMs = 86_400_000
const minuteMs = 60_000
const midnight = Math.floor(Date.now() / dayMs) * dayMs
const firstDay = midnight - daysMade * dayMs
const lastDay = midnight - dayMs
type Query = Record<string, string>
async function analytics(path: string, { steps, ...query }: Query): Promise<Row> {
  const url = `/api/v1/analytics/${path}`
  const answer = await events.app.inject(
    steps === undefined
      ? { url: `${url}?${new URLSearchParams(query)}` }
      : { method: 'POST', url, payload: payloadOf(steps, query) },
  )
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  const { meta: _, ...figures } = answer.json()
  return figures
}

/** The body of a request for a funnel. */
const payloadOf = (steps: string, { start_ms, end_ms, include_bots, ...query }: Query) => ({
  ...query,
  start_ms: Number(start_ms),
  end_ms: Number(end_ms),
  include_bots: include_bots === 'true',
  steps: steps.split(' '),
  within_ms: 2 * dayMs,
})

const dimensions =
  'page_path,country,event_type,resolved,entry_page,exit_page,source,channel,utm_source,device_type'
const dimensionsOfPayloads =
  'event_data.name,event_data.properties.plan,event_data.properties.of.id,event_data.url'

/** Filters that rows of counted sessions answer; the last is on a field that they lack. */
const filters = [
  'source:eq:Google',
  'source:eq:Direct',
  'source:ne:Direct',
  'country:in:DE|US',
  'country:ne:DE',
  'entry_page:eq:/',
  'exit_page:ne:/docs,device_type:eq:mobile',
  'channel:eq:Referral,entry_page:in:/|/pricing',
  'event_type:eq:click',
  'page_path:ne:/docs,source:eq:Direct',
  'event_data.name:eq:signup,device_type:eq:mobile',
  'event_data.properties.plan:ne:team,event_data.name:like:%now%',
  'event_data.properties.price:gt:2',
  'utm_term:ne:x',
]
/** A filter that every event meets, which no counts answer. */
const everything = 'event_data.nothing:ne:x'

/** Events with which visitors begin and return: counted days have those of the first four. */
const comings: Query[] = [
  {},
  { first: 'event_type:eq:click' },
  { first: 'page_path:in:/|/docs', returning: 'event_type:in:page_view|click' },
  { returning: 'page_path:eq:/pricing' },
  { first: 'country:eq:DE' },
]

/** Steps of funnels: prepared sessions have the fields of the first three. */
const funnels = [
  'event_type:eq:page_view event_type:eq:click',
  'page_path:in:/|/docs page_path:eq:/pricing',
  'event_type:eq:click,page_path:ne:/docs event_type:eq:page_view,page_path:like:/%',
  'event_type:eq:page_view,country:eq:DE event_type:eq:click',
]

/** All figures of a window, and the same with a filter that every event meets, which no count of days answers. */
async function expectSame(
  projectId: string,
  below: (n: number) => number,
  { zone, from } = { zone: utc, from: firstDay },
): Promise<void> {
  const first = from + below(daysMade - 2) * dayMs
  const lastDay = from + (daysMade - 1) * dayMs
  // Every other one ends in the last day that has events, whose hours may be counted.
  const [days, rest] =
    below(2) === 0
      ? [lastDay - first, below(dayMs)]
      : [(2 + below(3)) * dayMs, below(3) * below(dayMs)]
  const query: Query = {
    project_id: projectId,
    time_zone: zone.name,
    start_ms: String(zone.instantOf(first)),
    end_ms: String(zone.instantOf(first + Math.max(days, 2 * dayMs)) + rest),
    ...(below(3) === 0 && { pixel_id: pixels[0]! }),
    ...(below(2) === 0 && { include_bots: 'true' }),
  }
  const filter = below(2) === 0 ? filters[below(filters.length)] : undefined
  for (const [path, more] of [
    ['overview', { compare: 'previous' }],
    [
      'timeseries',
      { interval: ['day', 'week', 'month'][below(3)]!, compare: 'previous', include: 'sessions' },
    ],
    ['breakdown', { dimensions: [dimensions, dimensionsOfPayloads][below(2)]!, limit: '1000' }],
    [
      'retention',
      {
        interval: ['day', 'week', 'month'][below(3)]!,
        ...comings[filter ? 0 : below(comings.length)],
      },
    ],
    ['funnel', { steps: funnels[below(funnels.length)]! }],
    ['journeys', { pages: '50', ...(below(2) === 0 && { start: '/pricing' }) }],
  ] as const) {
    const asked = { ...query, ...more, ...(filter && { filter }) }
    const [counted, scanned] = await Promise.all([
      analytics(path, asked),
      analytics(path, { ...asked, filter: filter ? `${filter},${everything}` : everything }),
    ])
    expect(counted, JSON.stringify([path, asked])).toEqual(scanned)
  }
}

const goals = [
  'event_type:eq:click',
  'page_path:in:/pricing|/docs',
  'event_type:in:click|video',
  'page_path:eq:/nowhere',
].map((filter) => conditionsOf({ name: filter, filter }))
/** The same for goals, in counts and in events. */
async function expectSameConversions(projectId: string): Promise<void> {
  const { live } = events.clickhouse
  const scope = { organizationId, projectId, pixelId: null, campaignId: null }
  const window = { startMs: firstDay + dayMs, endMs: lastDay + 23.4 * 60 * minuteMs }
  expect(goals.every(isRolledGoal)).toBe(true)
  for (const bots of ['included', 'excluded'] as const) {
    const plan = { source: 'pixel' as const, filters: [], bots, scope, window, zone: utc }
    const { events: rolled } = await readRollup(readerOf(live), plan)
    expect(await live.rows(conversionsQuery(plan, goals, { rolled }))).toEqual(
      await live.rows(conversionsQuery(plan, goals)),
    )
  }
}

const command = (sql: string, params: Row) => events.clickhouse.live.command({ sql, params })
const erase = (condition: string, params: Row) =>
  command(`ALTER TABLE events DELETE WHERE ${condition} SETTINGS mutations_sync = 1`, params)
const count = (projectId: string, nowMs = Date.now()) =>
  countDays(events.clickhouse.live, projectId, { min: { day: 1, hours: 1 }, nowMs })

/** The days of all there is that are read from counts: as many with bots as without. */
async function daysCounted(projectId: string): Promise<{ events: number; sessions: number }> {
  const [rollup, withBots] = await Promise.all(
    (['excluded', 'included'] as const).map(async (bots) => {
      const { events: ofEvents, sessions } = await readRollup(readerOf(events.clickhouse.live), {
        source: 'pixel',
        filters: [],
        bots,
        zone: utc,
        window: { startMs: firstDay, endMs: midnight },
        scope: { organizationId, projectId, pixelId: null, campaignId: null },
      })
      return { events: ofEvents?.runIds.length ?? 0, sessions: sessions?.runIds.length ?? 0 }
    }),
  )
  expect(withBots).toEqual(rollup)
  return rollup!
}

/** The days and hours whose sessions are rows, for a filter on sessions. */
async function sessionDaysCounted(projectId: string): Promise<number> {
  const { events: ofEvents, sessions } = await readRollup(readerOf(events.clickhouse.live), {
    source: 'pixel',
    filters: [],
    sessionFilters: [{ field: sessionFieldNamed('country')!, op: 'eq', as: 'text', value: 'DE' }],
    bots: 'excluded',
    zone: utc,
    window: { startMs: firstDay, endMs: midnight },
    scope: { organizationId, projectId, pixelId: null, campaignId: null },
  })
  expect(ofEvents).toBeNull()
  return sessions?.runIds.length ?? 0
}

const changes = ['late', 'again', 'erase', 'retain', 'late', 'count', 'count'] as const

test('counts of days and hours equal the events to the one, through late events, repeats, erasures and retention', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(fc.constantFrom(...changes), { minLength: 3, maxLength: 4 }),
      async (seed, steps) => {
        const below = seededNumbers(seed)
        const projectId = randomUUID()
        const visitors = Array.from({ length: 30 }, () => randomUUID())
        const rows = visits(projectId, below, visitors, firstDay)
        await events.insert(rows)
        await expectSame(projectId, below)
        let now = lastDay + below(dayMs)
        await count(projectId, now)
        expect((await daysCounted(projectId)).events).toBeGreaterThan(3)
        expect(await sessionDaysCounted(projectId)).toBeGreaterThan(3)
        await expectSame(projectId, below)
        for (const step of steps) {
          if (step === 'late')
            await events.insert(
              visits(projectId, below, [visitors[below(30)]!, randomUUID()], firstDay).slice(0, 5),
            )
          if (step === 'again') await events.insert(rows.slice(below(20), 20 + below(20)))
          if (step === 'erase')
            await erase('project_id = {projectId:UUID} AND cookie_id IN {cookies:Array(UUID)}', {
              projectId,
              cookies: visitors.slice(below(10), 10 + below(10)),
            })
          if (step === 'retain')
            await erase('project_id = {projectId:UUID} AND ts_millis < {before:Int64}', {
              projectId,
              before: firstDay + below(3) * dayMs,
            })
          if (step === 'count') {
            now += below(10 * 60) * minuteMs
            await count(projectId, now)
          }
          await expectSame(projectId, below)
        }
        await count(projectId, lastDay + 20 * 60 * minuteMs)
        await expectSame(projectId, below)
        await expectSameConversions(projectId)
        await count(projectId)
        await expectSame(projectId, below)
      },
    ),
    { numRuns: 2, seed: 5 },
  )
}, 1_800_000)

test.each([
  ['America/Los_Angeles', '2026-10-30'],
  ['Asia/Kathmandu', '2026-10-30'],
  ['Europe/Berlin', '2026-03-27'],
])(
  'counts of local days of %s, from %s on, equal the events, also where clocks change',
  async (name, date) => {
    const zone = timeZone(name)!
    const from = Date.parse(date)
    const below = seededNumbers(3)
    const projectId = randomUUID()
    await events.insert(
      visits(
        projectId,
        below,
        Array.from({ length: 30 }, () => randomUUID()),
        from,
      ),
    )
    const countAt = (nowMs: number) =>
      countDays(events.clickhouse.live, projectId, { min: { day: 1, hours: 1 }, nowMs, zone })
    const local = { zone, from }
    await countAt(zone.instantOf(from + 4.4 * dayMs))
    const { events: rolled, sessions } = await readRollup(readerOf(events.clickhouse.live), {
      source: 'pixel',
      filters: [],
      bots: 'excluded',
      zone,
      window: {
        startMs: zone.instantOf(from),
        endMs: zone.instantOf(from + 4.4 * dayMs),
      },
      scope: { organizationId, projectId, pixelId: null, campaignId: null },
    })
    // Four days, and the hours of the last.
    expect(rolled!.runIds.length).toBeGreaterThan(8)
    expect(sessions!.runIds.length).toBeGreaterThan(8)
    for (let tries = 0; tries < 4; tries++) await expectSame(projectId, below, local)
    // In another zone, other days are read from the events.
    for (const other of [utc, timeZone('Asia/Tokyo')!])
      await expectSame(projectId, below, { zone: other, from })
    await countDays(events.clickhouse.live, projectId, {
      min: { day: 1, hours: 1 },
      nowMs: from + 6 * dayMs,
      zone: timeZone('Asia/Tokyo')!,
    })
    await expectSame(projectId, below, local)
    await expectSame(projectId, below, { zone: timeZone('Asia/Tokyo')!, from })
  },
)

test('hours are read from counts, a changed one is not; they go after a month', async () => {
  const projectId = randomUUID()
  const hourMs = 60 * minuteMs
  const [leaving, staying] = [randomUUID(), randomUUID()]
  const at = (hours: number, cookie_id: string = staying) =>
    eventOf(lastDay + hours * hourMs, 0, { project_id: projectId, cookie_id })
  // One session over five hours, and one that is still open when the hours before are counted.
  const quarters = Array.from({ length: 20 }, (_, index) => at(3 + index / 4))
  await events.insert([...quarters, at(9.9), at(10.1), at(1.5, leaving)])
  const figures = async (end: number) => {
    const query = {
      project_id: projectId,
      start_ms: String(firstDay),
      end_ms: String(lastDay + end * hourMs),
    }
    const [counted, scanned] = await Promise.all(
      [{}, { filter: everything }].map((more) =>
        Promise.all([
          analytics('overview', { ...query, ...more }),
          analytics('breakdown', { ...query, ...more, dimensions }),
        ]),
      ),
    )
    expect(counted).toEqual(scanned)
    return counted![0].overview as Row
  }
  const isSettled = lastDay + 10 * hourMs + 2 * minuteMs
  // Two processes at once: the runs of either may be read.
  await Promise.allSettled([count(projectId, isSettled), count(projectId, isSettled)])
  await count(projectId, isSettled)
  expect(await daysCounted(projectId)).toEqual({ events: 10, sessions: 10 })
  expect(await figures(10.2)).toMatchObject({ events: 23, visitors: 2, sessions: 3 })
  expect(await figures(10)).toMatchObject({ events: 22, visitors: 2, sessions: 3 })
  expect(await figures(5)).toMatchObject({ events: 9, visitors: 2, sessions: 2 })

  // Late: it fills the rest between two sessions of the same visitor.
  await events.insert([at(8.1), at(8.5), at(8.9), at(9.2), at(9.5)])
  expect(await daysCounted(projectId)).toEqual({ events: 8, sessions: 8 })
  expect(await figures(10.2)).toMatchObject({ events: 28, visitors: 2, sessions: 2 })
  await count(projectId, isSettled)
  expect(await daysCounted(projectId)).toEqual({ events: 10, sessions: 10 })
  expect(await figures(10.2)).toMatchObject({ events: 28, visitors: 2, sessions: 2 })

  await erase('project_id = {projectId:UUID} AND cookie_id = {leaving:UUID}', {
    projectId,
    leaving,
  })
  expect(await figures(10.2)).toMatchObject({ events: 27, visitors: 1, sessions: 1 })
  await count(projectId, isSettled)
  expect(await figures(10.2)).toMatchObject({ events: 27, visitors: 1, sessions: 1 })
  const { live } = events.clickhouse
  const numbers = await live.rows({
    sql: 'SELECT cookie_id FROM analytics_visitors WHERE project_id = {projectId:UUID}',
    params: { projectId },
  })
  expect(numbers).toEqual([{ cookie_id: staying }])

  const hoursCounted = () =>
    live.rows({
      sql: "SELECT count() AS hours FROM analytics_runs FINAL WHERE project_id = {projectId:UUID} AND of != 'checked' AND hour > 0 AND fingerprint != ''",
      params: { projectId },
    })
  await count(projectId, midnight + 2 * minuteMs)
  expect(await daysCounted(projectId)).toEqual({ events: 1, sessions: 1 })
  expect(await figures(10.2)).toMatchObject({ events: 27, visitors: 1, sessions: 1 })
  expect(await hoursCounted()).toEqual([{ hours: 96 }])
  // Rows of sessions have only hours of today and yesterday.
  await count(projectId, midnight + dayMs)
  expect(await hoursCounted()).toEqual([{ hours: 72 }])
  await count(projectId, midnight + 31 * dayMs)
  expect(await hoursCounted()).toEqual([{ hours: 0 }])
  expect(await figures(10.2)).toMatchObject({ events: 27, visitors: 1, sessions: 1 })
})

test('a changed day is read from its events until it is counted anew; who is erased has no number, old counts go', async () => {
  const projectId = randomUUID()
  const { live } = events.clickhouse
  const cookie = randomUUID()
  const day = firstDay + 2 * dayMs
  await events.insert(
    [0, 1, 2, 3, 4].map((n) =>
      eventOf(firstDay + n * dayMs + minuteMs, 0, { project_id: projectId }),
    ),
  )
  await count(projectId)
  expect(await daysCounted(projectId)).toEqual({ events: 5, sessions: 5 })
  await events.insert([eventOf(day + 1, 0, { project_id: projectId, cookie_id: cookie })])
  // A session may have begun three days before the day on which it closes.
  expect(await daysCounted(projectId)).toEqual({ events: 4, sessions: 2 })
  await count(projectId)
  expect(await daysCounted(projectId)).toEqual({ events: 5, sessions: 5 })

  const left = async () => {
    const [row] = await live.rows<Row>({
      sql: `SELECT (SELECT count() FROM analytics_visitors WHERE cookie_id = {cookie:UUID}) AS numbers,
        (SELECT uniqExact(run_id) FROM analytics_days WHERE project_id = {projectId:UUID}) AS runs,
        (SELECT uniqExact(number) = count() FROM analytics_visitors WHERE project_id = {projectId:UUID}) AS are_own,
        (SELECT count() > 0 FROM counted_sessions WHERE project_id = {projectId:UUID}
         AND number NOT IN (SELECT number FROM analytics_visitors WHERE project_id = {projectId:UUID})) AS has_rows_of_erased`,
      params: { cookie, projectId },
    })
    return row
  }
  expect(await left()).toEqual({
    numbers: 1,
    runs: 12,
    are_own: 1,
    has_rows_of_erased: 0,
  })
  await events.postgres.query(
    "INSERT INTO organizations (organization_id, name) VALUES ($1, 'Acme')",
    [organizationId],
  )
  await requestErasure(events.postgres, organizationId, { cookieId: cookie })
  await expect
    .poll(async () => {
      await carryOutErasures({ postgres: events.postgres, clickhouse: live })
      return (await left())!.numbers
    })
    .toBe(0)
  await count(projectId)
  await command(
    'ALTER TABLE analytics_days UPDATE counted_at = counted_at - INTERVAL 2 HOUR WHERE true SETTINGS mutations_sync = 1',
    {},
  )
  await expect
    .poll(async () => {
      await deleteOldCounts(live)
      return left()
    })
    .toEqual({ numbers: 0, runs: 10, are_own: 1, has_rows_of_erased: 0 })
})

test('the background work counts the days of large projects that are over, and leaves what is counted alone', async () => {
  const projectId = randomUUID()
  const { live } = events.clickhouse
  const [stale, counting] = analyticsQueues({ clickhouse: live, postgres: events.postgres })
  const staleProjects = async () => {
    const sent: string[] = []
    await stale!.run({ ...job, send: async (_, key) => void sent.push(key) })
    return sent.filter((key) => key === projectId)
  }
  const job = {
    key: null,
    isLastTry: false,
    signal: new AbortController().signal,
    send: async () => {},
  }
  const insert = (rows: number, at: number) => {
    const { event_data: _, ...columns } = eventOf(at, 0, { project_id: projectId })
    return events.insert(
      Array.from({ length: rows }, () => ({ ...columns, event_id: randomUUID() })),
    )
  }
  await insert(eventsWorthCounting.day - 1, midnight - dayMs)
  // Of the hour under way; once it is over it is stale, as the day would be.
  await insert(eventsWorthCounting.hours, Date.now())
  expect(await staleProjects()).toEqual([])
  const later = Date.now() + 61 * minuteMs
  expect(await readStaleProjects(live, later)).toContain(projectId)
  await countDays(live, projectId, { nowMs: later })
  expect(await readStaleProjects(live, later)).not.toContain(projectId)
  await countDays(live, projectId)
  await insert(1, midnight - 1)
  expect(await staleProjects()).toEqual([projectId])
  await counting!.run({ ...job, key: projectId })
  expect(await staleProjects()).toEqual([])
  expect((await daysCounted(projectId)).events).toBe(1)
  await events.postgres.query(
    `INSERT INTO organizations (organization_id, name) VALUES ($1, 'Acme') ON CONFLICT DO NOTHING`,
    [organizationId],
  )
  await events.postgres.query(
    "INSERT INTO projects (project_id, organization_id, name, time_zone) VALUES ($1, $2, 'Shop', 'Asia/Tokyo')",
    [projectId, organizationId],
  )
  expect(await staleProjects()).toEqual([projectId])
  await counting!.run({ ...job, key: projectId })
  expect(await staleProjects()).toEqual([])
  expect((await daysCounted(projectId)).events).toBe(0)
  await erase('project_id = {projectId:UUID}', { projectId })
  expect(await staleProjects()).toEqual([projectId])
  await counting!.run({ ...job, key: projectId })
  expect(await staleProjects()).toEqual([])
})
