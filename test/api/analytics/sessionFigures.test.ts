import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { openEvents, organizationId, projectId } from '../events/harness.ts'
import {
  type Asked,
  ofEvents,
  ofSessions,
  overviewOf,
  type Query,
  queryOf,
  type Selected,
  select,
  selectedOf,
  sessionTotals,
  starting,
  totals,
  visitorsOf,
} from './naiveFigures.ts'
import { dayMs, groupsBy, isView, randomVisits, type Seen, sessionsOf } from './naiveSessions.ts'

/** Figures by fields of sessions, such as the source, against a naive look at every session. */
let events: Awaited<ReturnType<typeof openEvents>>
const start = Date.UTC(2026, 9, 23)
const visitors = randomVisits(5, 1_300, start)
const otherPixel = randomUUID()
const goals = { Ordered: 'page_path:eq:/thanks', Asked: 'event_type:eq:form_submission' }

beforeAll(async () => {
  for (const [index, event] of visitors.flat().entries()) {
    if (index % 5 === 0) event.pixel_id = otherPixel
    if (index % 3 === 0) event.event_data = '{"n":"1"}'
  }
  events = await openEvents()
  await events.insertHits(visitors.flat())
  const { postgres } = events
  await storeOrganization(postgres, organizationId)
  await storeProject(postgres, projectId, organizationId)
  await post('PUT', 'goals', {
    project_id: projectId,
    goals: Object.entries(goals).map(([name, filter]) => ({ name, filter })),
  })
})
afterAll(() => events.close())

async function post<T>(method: 'POST' | 'PUT', path: string, payload: object): Promise<T> {
  const answer = await events.app.inject({ method, url: `/api/v1/analytics/${path}`, payload })
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}
async function get<T>(path: string, query: Query): Promise<T> {
  const asked = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, `${value}`]),
  )
  const answer = await events.app.inject({ url: `/api/v1/analytics/${path}?${asked}` })
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}

const asked: fc.Arbitrary<Asked> = fc
  .record({
    first: fc.integer({ min: 0, max: 5 * 24 * 60 }),
    minutes: fc.integer({ min: 60, max: 6 * 24 * 60 }),
    pixel: fc.constantFrom(null, null, otherPixel),
    bots: fc.boolean(),
    sessionFilters: fc.uniqueArray(fc.constantFrom(...Object.keys(ofSessions)), { maxLength: 2 }),
    eventFilters: fc.uniqueArray(fc.constantFrom(...Object.keys(ofEvents)), { maxLength: 1 }),
  })
  .map(({ first, minutes, ...more }) => ({
    ...more,
    startMs: start + first * 60_000,
    endMs: start + (first + minutes) * 60_000,
  }))

/** Pages of sessions that began before the window, which few random questions ask for. */
const byPages: Asked = {
  startMs: start + 2 * dayMs,
  endMs: start + 3 * dayMs,
  pixel: null,
  bots: false,
  sessionFilters: ['entry_page:eq:/pricing', 'exit_page:ne:/docs'],
  eventFilters: [],
}

const forAll = (check: (asked: Asked, sessions: Selected[]) => Promise<void>, numRuns = 4) =>
  fc.assert(
    fc.asyncProperty(asked, (one) => check(one, select(visitors, one))),
    { numRuns, seed: 21, examples: [[byPages]] },
  )

test('there are thousands of sessions, of every source', () => {
  const sessions = visitors.flatMap(sessionsOf)
  expect(sessions.length).toBeGreaterThan(5_000)
  const sources = new Set(sessions.map(({ fields }) => fields.source))
  expect(sources.size).toBe(8)
})

test('the overview and the series count what happens in the sessions that meet the filter', async () => {
  await forAll(async (one, sessions) => {
    const { overview } = await get<{ overview: object }>('overview', queryOf(one))
    expect(overview).toEqual(overviewOf(sessions))
    const { timeseries } = await get<{ timeseries: { start_ms: number }[] }>('timeseries', {
      ...queryOf(one),
      interval: 'hour',
      include: 'sessions',
    })
    const seen = selectedOf(sessions)
    for (const { start_ms, ...point } of timeseries) {
      const isIn = ({ ts_millis }: Seen) => Math.floor((ts_millis - start_ms) / 3_600_000) === 0
      expect(point).toMatchObject({
        ...totals(seen.filter(isIn)),
        ...sessionTotals(sessions.filter(({ events: [first] }) => isIn(first!))),
      })
    }
  })
})

interface Value {
  value: string | null
  sessions: number | null
  goal: object | null
}
type Breakdowns = { breakdowns: Record<string, { values: Value[] }> }

const sessionDimensions = [
  'source',
  'channel',
  'utm_campaign',
  'referrer_host',
  'country',
  'device_type',
]

test('a breakdown counts what happens in the sessions of each value', async () => {
  await forAll(async (one, sessions) => {
    const { breakdowns } = await get<Breakdowns>('breakdown', {
      ...queryOf(one),
      dimensions: [...sessionDimensions, 'entry_page', 'exit_page', 'page_path'].join(','),
      limit: 1_000,
    })
    const key = (value: string | null) => (value === null ? 'null' : `=${value}`)
    const found = (name: string) =>
      new Map(breakdowns[name]!.values.map(({ value, ...counts }) => [key(value), counts]))
    for (const name of sessionDimensions) {
      const groups = groupsBy(sessions, ({ fields }) => key(fields[name]!))
      expect(found(name)).toEqual(
        new Map(
          [...groups].map(([value, group]) => [
            value,
            { ...totals(selectedOf(group)), sessions: starting(group).length, goal: null },
          ]),
        ),
      )
      const sum = breakdowns[name]!.values.reduce((all, { sessions }) => all + sessions!, 0)
      expect(sum).toBe(starting(sessions).length)
    }
    const viewing = starting(sessions).filter(({ views }) => views.length > 0)
    for (const name of ['entry_page', 'exit_page']) {
      const groups = groupsBy(viewing, ({ fields }) => key(fields[name]!))
      expect(found(name)).toEqual(
        new Map(
          [...groups].map(([value, group]) => [
            value,
            {
              events: null,
              page_views: null,
              visitors: visitorsOf(group.flatMap(({ events }) => events)),
              sessions: group.length,
              goal: null,
            },
          ]),
        ),
      )
    }
    const paths = groupsBy(selectedOf(sessions), ({ page_path }) => key(page_path))
    expect(found('page_path')).toEqual(
      new Map(
        [...paths].map(([path, seen]) => [path, { ...totals(seen), sessions: null, goal: null }]),
      ),
    )
  })
})

test('with a goal, each value has the conversions of its sessions, or of the visitors of its events', async () => {
  const isOrder = ({ page_path }: Seen) => page_path === '/thanks'
  const goalOf = (seen: readonly Seen[]) => {
    const visitors = visitorsOf(seen.filter(isOrder))
    return {
      events: seen.filter(isOrder).length,
      visitors,
      rate: seen.length === 0 ? 0 : visitors / visitorsOf(seen),
      revenue: null,
    }
  }
  await forAll(async (one, sessions) => {
    const { breakdowns } = await get<Breakdowns>('breakdown', {
      ...queryOf(one),
      dimensions: 'source,entry_page,exit_page,event_type,page_path,event_data.name',
      goal: 'Ordered',
      limit: 1_000,
    })
    const found = (name: string) =>
      new Map(breakdowns[name]!.values.map(({ value, goal }) => [value, goal]))
    const viewing = starting(sessions).filter(({ views }) => views.length > 0)
    const matchingOf = (of: readonly Selected[]) => of.flatMap(({ matching }) => matching)
    for (const [name, group, eventsOf] of [
      ['source', sessions, selectedOf],
      ['entry_page', viewing, matchingOf],
      ['exit_page', viewing, matchingOf],
    ] as const) {
      const groups = groupsBy(group, ({ fields }) => fields[name]!)
      expect(found(name)).toEqual(
        new Map([...groups].map(([value, of]) => [value, goalOf(eventsOf(of))])),
      )
    }
    const seen = selectedOf(sessions)
    const orders = groupsBy(seen.filter(isOrder), ({ cookie_id }) => cookie_id)
    const fieldsOfEvents: Record<string, (event: Seen) => string | null> = {
      event_type: ({ event_type }) => event_type,
      page_path: ({ page_path }) => page_path,
      'event_data.name': () => null,
    }
    for (const [name, fieldOf] of Object.entries(fieldsOfEvents))
      expect(found(name)).toEqual(
        new Map(
          [...groupsBy(seen, fieldOf)].map(([value, of]) => {
            const all = [...new Set(of.map(({ cookie_id }) => cookie_id))]
            const reached = all
              .flatMap((cookie) => [orders.get(cookie) ?? []])
              .filter((of) => of[0])
            return [
              value,
              {
                events: reached.flat().length,
                visitors: reached.length,
                rate: reached.length / all.length,
                revenue: null,
              },
            ]
          }),
        ),
      )
  })
  const query = { project_id: projectId, dimensions: 'source', goal: 'Nothing' }
  await expect(get('breakdown', query)).rejects.toThrow(/goal of the project: .*Ordered/)
})

test('goals count the events of the sessions that meet the filter', async () => {
  await forAll(async (one, sessions) => {
    const { conversions } = await get<{ conversions: object[] }>('conversions', queryOf(one))
    const seen = selectedOf(sessions)
    const all = visitorsOf(seen)
    expect(conversions).toEqual(
      Object.entries(goals).map(([name, filter]) => {
        const reached = seen.filter((event) =>
          name === 'Ordered'
            ? event.page_path === '/thanks'
            : event.event_type === 'form_submission',
        )
        const visitors = visitorsOf(reached)
        return {
          name,
          filter,
          events: reached.length,
          visitors,
          rate: all ? visitors / all : null,
          revenue: null,
          missing_values: null,
        }
      }),
    )
  })
})

test('funnels, retention, journeys and lists of visitors are of the sessions that meet the filter', async () => {
  await forAll(async (one, sessions) => {
    const query = queryOf(one)
    const byVisitor = [...groupsBy(selectedOf(sessions), ({ cookie_id }) => cookie_id).values()]
    const { steps } = await post<{ steps: { visitors: number }[] }>('POST', 'funnel', {
      ...query,
      steps: ['event_type:eq:page_view', 'page_path:eq:/thanks'],
      within_ms: 30 * dayMs,
    })
    const isOrder = ({ page_path }: Seen) => page_path === '/thanks'
    const reached = byVisitor.filter((seen) => seen.some(isView))
    expect(steps.map((step) => step.visitors)).toEqual([
      reached.length,
      reached.filter((seen) => seen.slice(seen.findIndex(isView) + 1).some(isOrder)).length,
    ])

    const { cohorts } = await get<{ cohorts: { start_ms: number; returned: number[] }[] }>(
      'retention',
      { ...query, interval: 'day' },
    )
    const dayOf = ({ ts_millis }: Seen) => Math.floor(ts_millis / dayMs)
    for (const { start_ms, returned } of cohorts) {
      const day = start_ms / dayMs
      const members = byVisitor.filter(([first]) => dayOf(first!) === day)
      expect(returned).toEqual(
        returned.map(
          (_, later) =>
            members.filter((seen) => seen.some((event) => dayOf(event) === day + later)).length,
        ),
      )
    }

    const { links } = await get<{ links: { step: number; sessions: number }[] }>('journeys', query)
    const begun = links.filter(({ step }) => step === 1)
    expect(begun.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(
      starting(sessions).filter(({ views }) => views.some(({ page_path }) => page_path !== null))
        .length,
    )

    const { visitors: listed } = await post<{ visitors: { cookie_id: string; events: number }[] }>(
      'POST',
      'visitors',
      { ...query, limit: 10_000 },
    )
    expect(new Map(listed.map(({ cookie_id, events }) => [cookie_id, events]))).toEqual(
      new Map(byVisitor.map((seen) => [seen[0]!.cookie_id, seen.length])),
    )
  })
})

test('without a filter on sessions, figures equal the counts of the events API', async () => {
  const query = { project_id: projectId, start_ms: start, end_ms: start + 7 * dayMs }
  const { overview } = await get<{ overview: { events: number; sessions: number } }>('overview', {
    ...query,
    include_bots: true,
  })
  const answer = await events.get('events/web_event/counts', {
    project_id: projectId,
    start_ms: `${query.start_ms}`,
    end_ms: `${query.end_ms}`,
    distinct: 'session_id',
  })
  const { total, counts } = answer.json()
  expect([overview.events, overview.sessions]).toEqual([total, counts[0].distinct])
})
