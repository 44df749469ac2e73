import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { eventOf, openEvents, organizationId, projectId, type Row } from '../events/harness.ts'

/** Goals of a project, kept in PostgreSQL, and the conversions that ClickHouse counts by them. */
let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const path = '/api/v1/analytics/goals'
const [ada, ben, eve] = [randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  events = await openEvents()
  const { postgres } = events
  await storeOrganization(postgres, organizationId)
  await storeProject(postgres, projectId, organizationId)
  await events.insertHits([
    eventOf(now, 5_000, { cookie_id: ada, page_path: '/thanks' }),
    eventOf(now, 4_000, { cookie_id: ada, page_path: '/thanks' }),
    eventOf(now, 3_000, { cookie_id: ben, event_type: 'form_submission', country: 'DE' }),
    eventOf(now, 2_000, { cookie_id: ada, event_type: 'form_submission' }),
    eventOf(now, 1_000, { cookie_id: eve, country: 'DE' }),
  ])
})
afterAll(() => events.close())

const put = (body: Row) =>
  events.app.inject({ method: 'PUT', url: path, payload: { project_id: projectId, ...body } })
const get = (where: string, query: Record<string, string> = {}) =>
  events.app.inject({ url: `${where}?${new URLSearchParams({ project_id: projectId, ...query })}` })

const goals = [
  { name: 'Ordered', filter: 'page_path:eq:/thanks' },
  { name: 'Asked', filter: 'event_type:eq:form_submission' },
  { name: 'Never', filter: 'page_path:eq:/nowhere' },
]

test('there are none at first; then they are what was set, with a version, and the log says so', async () => {
  expect((await get(path)).json()).toEqual({ goals: [], version: 0, updated_at: null })
  const set = await put({ goals })
  expect(set.statusCode).toBe(200)
  expect(set.json()).toEqual({ goals, version: 1, updated_at: expect.any(String) })
  expect((await get(path)).json()).toEqual(set.json())
  const { rows } = await events.postgres.query(
    "SELECT object_id FROM audit_log WHERE action = 'analytics_goals.replaced' AND organization_id = $1",
    [organizationId],
  )
  expect(rows).toEqual([{ object_id: projectId }])
})

test('an update of another version is told what there is', async () => {
  expect((await put({ goals, version: 1 })).json()).toMatchObject({ version: 2 })
  const late = await put({ goals: [], version: 1 })
  expect(late.statusCode).toBe(409)
  expect(late.json()).toMatchObject({ error: 'conflict', analytics_goals: { goals, version: 2 } })
})

test.each([
  [[{ name: 'Who', filter: 'hem:ne:x' }], 'goals[0].filter'],
  [[goals[0], { name: 'Bad', filter: 'nothing' }], 'goals[1].filter'],
  [[goals[0], goals[0]], 'goals[1].name'],
])('%o is refused and named', async (refused, parameter) => {
  const answer = await put({ goals: refused })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
})

test('conversions are the events and visitors of each goal, of those that a filter leaves', async () => {
  const conversionsOf = async (query: Record<string, string> = {}) => {
    const answer = await get('/api/v1/analytics/conversions', query)
    expect(answer.statusCode, answer.body).toBe(200)
    return (answer.json() as { conversions: Row[] }).conversions.map(
      ({ events, visitors, rate }) => [events, visitors, rate],
    )
  }
  expect(await conversionsOf()).toEqual([
    [2, 1, 1 / 3],
    [2, 2, 2 / 3],
    [0, 0, 0],
  ])
  expect(await conversionsOf({ filter: 'country:eq:DE' })).toEqual([
    [0, 0, 0],
    [1, 1, 1 / 2],
    [0, 0, 0],
  ])
  expect((await conversionsOf({ filter: 'country:eq:FR' })).map(([, , rate]) => rate)).toEqual([
    null,
    null,
    null,
  ])
})

test('who reaches any goal is counted once, also of the period before', async () => {
  const answer = await get('/api/v1/analytics/conversions', { compare: 'previous' })
  const { converted, previous } = answer.json() as {
    converted: Row
    previous: { converted: Row; conversions: Row[] }
  }
  expect(converted).toEqual({ visitors: 2, rate: 2 / 3, revenue: [] })
  expect(previous.converted).toEqual({ visitors: 0, rate: null, revenue: [] })
  expect(previous.conversions).toHaveLength(3)
  expect((await get('/api/v1/analytics/conversions')).json()).toMatchObject({ previous: null })
})

test('another organization’s project has no goals to tell', async () => {
  const headers = { 'x-organization': randomUUID() }
  for (const url of [path, '/api/v1/analytics/conversions'])
    expect(
      (await events.app.inject({ url: `${url}?project_id=${projectId}`, headers })).statusCode,
    ).toBe(404)
})

test('a series counts who reaches any goal in each interval; a parameter of another name is refused', async () => {
  await put({ goals })
  const series = { interval: 'day', start_ms: String(now - 10_000), end_ms: String(now + 1) }
  const answer = await get('/api/v1/analytics/timeseries', { ...series, include: 'conversions' })
  const { timeseries } = answer.json() as { timeseries: Row[] }
  const days = new Map<number, Set<string>>()
  for (const [ago, who] of [
    [5_000, ada],
    [4_000, ada],
    [3_000, ben],
    [2_000, ada],
  ] as const) {
    const day = Math.floor((now - ago) / 86_400_000) * 86_400_000
    days.set(day, (days.get(day) ?? new Set()).add(who))
  }
  expect(
    timeseries.map(({ start_ms, converted, sessions }) => [start_ms, converted, sessions]),
  ).toEqual(
    timeseries.map(({ start_ms }) => [start_ms, days.get(Number(start_ms))?.size ?? 0, null]),
  )
  const asked = await get('/api/v1/analytics/timeseries', {
    ...series,
    include: 'conversions',
    goal: 'Ordered',
  })
  const orderDays = new Set([5_000, 4_000].map((ago) => Math.floor((now - ago) / 86_400_000)))
  expect(
    (asked.json() as { timeseries: Row[] }).timeseries.map(({ converted }) => converted),
  ).toEqual(
    timeseries.map(({ start_ms }) =>
      orderDays.has(Math.floor(Number(start_ms) / 86_400_000)) ? 1 : 0,
    ),
  )
  for (const query of [{ goal: 'Ordered' }, { include: 'conversions', goal: 'Nothing' }])
    expect((await get('/api/v1/analytics/timeseries', query)).json()).toMatchObject({
      error: 'invalid_parameter',
      parameter: 'goal',
    })
  expect((await get('/api/v1/analytics/timeseries', { include: 'hem' })).json()).toMatchObject({
    error: 'invalid_parameter',
    parameter: 'include',
  })
  const everywhere = await events.app.inject({
    url: '/api/v1/analytics/timeseries?include=conversions',
  })
  expect(everywhere.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'include' })
})
