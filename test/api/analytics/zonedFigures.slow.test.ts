import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEvents, projectId, type Row } from '../events/harness.ts'
import {
  type Asked,
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
import { groupsBy, isView, randomVisits, type Seen, sessionsOf } from './naiveSessions.ts'
import { type Ask, changes, hourMs, openProject, zones } from './zonedProject.ts'

/**
 * Every figure of the dashboard, filtered by fields of sessions, against a naive look at ten thousand random sessions.
 * The zones differ, and clocks change in both directions.
 */
let events: Awaited<ReturnType<typeof openEvents>>
let ask: Ask
const visitors = changes.flatMap(({ date }, index) =>
  randomVisits(index + 31, 1_500, Date.parse(date) - 48 * hourMs),
)
const [cities, browsers] = [
  ['Berlin', 'Austin', null],
  ['Chrome', 'Firefox', 'Safari'],
]
for (const [index, event] of visitors.flat().entries())
  Object.assign(event, {
    city: cities[index % 3],
    region: event.country === 'US' ? 'Texas' : null,
    browser: browsers[index % 3],
    os: index % 2 === 0 ? 'Windows' : 'Android',
    language: event.country === null ? null : 'en',
  })

beforeAll(async () => {
  events = await openEvents()
  await events.insertHits(visitors.flat())
  ask = await openProject(events, projectId)
})
afterAll(() => events.close())

test('there are ten thousand random sessions', () => {
  expect(visitors.flatMap(sessionsOf).length).toBeGreaterThan(10_000)
})

/** The local time of an event by Intl: a date, or a date and an hour. */
function localOf(zone: string, withHour = false): (ms: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...(withHour && { hour: '2-digit', hourCycle: 'h23' }),
  })
  return (ms) => format.format(ms)
}

const utm = (name: string) => (event: Seen) =>
  new URL(String(event.page_url)).searchParams.get(name)
const column = (name: string) => (event: Seen) => (event[name] as string | null) ?? null
/** Fields whose value for a session is that of its first event. */
const ofFirstEvent: Record<string, (event: Seen) => string | null> = {
  utm_source: utm('utm_source'),
  utm_medium: utm('utm_medium'),
  ...Object.fromEntries(
    ['region', 'city', 'language', 'browser', 'os'].map((name) => [name, column(name)]),
  ),
}
const ofSession = ['source', 'channel', 'utm_campaign', 'referrer_host', 'country', 'device_type']
const ofPages = ['entry_page', 'exit_page']
const ofEvent = ['page_path', 'page_host', 'event_type']

const isOrder = ({ page_path }: Seen) => page_path === '/thanks'
const filters = [
  [],
  ['source:eq:Google'],
  ['source:eq:Direct'],
  ['utm_campaign:eq:may'],
  ['entry_page:eq:/pricing'],
  ['country:eq:DE'],
  ['device_type:eq:mobile'],
  ['source:eq:Google', 'country:eq:DE', 'device_type:eq:mobile'],
]
const shifted = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 24 * hourMs).toISOString().slice(0, 10)

describe.each(zones)('random sessions in %s', (time_zone) => {
  const dateOf = localOf(time_zone)
  const hourOf = localOf(time_zone, true)

  describe.each(changes)('around $date', ({ date, next, hours }) => {
    const [from, until] = [shifted(date, -1), shifted(next, 1)]

    test.each(filters.map((of) => [of.join(',') || 'no filter', of] as const))(
      'every figure with %s equals a naive look at each event',
      async (_, sessionFilters) => {
        const dates = { start_time: from, end_time: until, time_zone }
        const { meta } = await ask<{ meta: { start_ms: number; end_ms: number } }>(
          'GET',
          'overview',
          { project_id: projectId, ...dates },
        )
        // The window has complete local days, by Intl.
        expect([dateOf(meta.start_ms), dateOf(meta.start_ms - 1)]).toEqual([
          from,
          shifted(from, -1),
        ])
        expect([dateOf(meta.end_ms), dateOf(meta.end_ms - 1)]).toEqual([until, shifted(until, -1)])
        const changed = time_zone === 'America/Los_Angeles' ? hours - 24 : 0
        expect(meta.end_ms - meta.start_ms).toBe((3 * 24 + changed) * hourMs)
        const one: Asked = {
          startMs: meta.start_ms,
          endMs: meta.end_ms,
          pixel: null,
          bots: false,
          sessionFilters,
          eventFilters: [],
        }
        const { start_ms: _start, end_ms: _end, ...more } = queryOf(one)
        const query = { ...more, ...dates }
        const sessions = select(visitors, one)
        expect(sessions.length).toBeGreaterThan(0)
        await expectTiles(query, sessions)
        await expectPanels(query, sessions)
        await expectSteps(query, sessions)
      },
    )

    async function expectTiles(query: Query, sessions: readonly Selected[]) {
      const { overview } = await ask<{ overview: object }>('GET', 'overview', query)
      expect(overview).toEqual(overviewOf(sessions))
      const seen = selectedOf(sessions)
      const { timeseries } = await ask<{ timeseries: ({ start_ms: number } & Row)[] }>(
        'GET',
        'timeseries',
        { ...query, interval: 'day', include: 'sessions' },
      )
      const byDate = groupsBy(seen, ({ ts_millis }) => dateOf(ts_millis))
      expect(timeseries.map(({ start_ms }) => dateOf(start_ms))).toEqual(
        [0, 1, 2].map((days) => shifted(from, days)),
      )
      for (const { start_ms, ...point } of timeseries)
        expect(point).toMatchObject({
          ...totals(byDate.get(dateOf(start_ms)) ?? []),
          ...sessionTotals(
            sessions.filter(({ events: [first] }) => dateOf(first!.ts_millis) === dateOf(start_ms)),
          ),
        })
      const { timeseries: ofHours } = await ask<{
        timeseries: { start_ms: number; events: number }[]
      }>('GET', 'timeseries', { ...query, interval: 'hour' })
      const byHour = groupsBy(ofHours, ({ start_ms }) => hourOf(start_ms))
      for (const [hour, group] of groupsBy(seen, ({ ts_millis }) => hourOf(ts_millis)))
        expect(byHour.get(hour)!.reduce((sum, point) => sum + point.events, 0)).toBe(group.length)
      const { conversions } = await ask<{ conversions: Row[] }>('GET', 'conversions', query)
      const reached = seen.filter(isOrder)
      expect(conversions).toMatchObject([
        {
          name: 'Ordered',
          events: reached.length,
          visitors: visitorsOf(reached),
          rate: visitorsOf(reached) / visitorsOf(seen),
        },
      ])
    }

    async function expectPanels(query: Query, sessions: readonly Selected[]) {
      const names = [...ofSession, ...Object.keys(ofFirstEvent), ...ofPages, ...ofEvent]
      const found = new Map<string, Map<string, Row>>()
      // A request has at most ten dimensions.
      for (const part of [names.slice(0, 8), names.slice(8)]) {
        const { breakdowns } = await ask<{
          breakdowns: Record<string, { values: ({ value: string | null } & Row)[] }>
        }>('GET', 'breakdown', { ...query, dimensions: part.join(','), limit: 1_000 })
        for (const [name, { values }] of Object.entries(breakdowns))
          found.set(name, new Map(values.map(({ value, ...counts }) => [`${value}`, counts])))
      }
      for (const name of [...ofSession, ...Object.keys(ofFirstEvent)]) {
        const fieldOf = ofFirstEvent[name]
        const groups = groupsBy(
          sessions,
          ({ events: [first], fields }) => `${fieldOf ? fieldOf(first!) : fields[name]}`,
        )
        const expected = [...groups].map(([value, group]) => [
          value,
          { ...totals(selectedOf(group)), sessions: starting(group).length, goal: null },
        ])
        expect(found.get(name), name).toEqual(new Map(expected as [string, Row][]))
      }
      const viewing = starting(sessions).filter(({ views }) => views.length > 0)
      for (const name of ofPages) {
        const groups = groupsBy(viewing, ({ fields }) => `${fields[name]}`)
        const expected = [...groups].map(([value, group]) => [
          value,
          {
            visitors: visitorsOf(group.flatMap(({ events: seen }) => seen)),
            sessions: group.length,
          },
        ])
        const counted = [...found.get(name)!].map(([value, { visitors, sessions }]) => [
          value,
          { visitors, sessions },
        ])
        expect(new Map(counted as [string, Row][]), name).toEqual(
          new Map(expected as [string, Row][]),
        )
      }
      for (const name of ofEvent) {
        const groups = groupsBy(selectedOf(sessions), (event) => `${column(name)(event)}`)
        const expected = [...groups].map(([value, group]) => [
          value,
          { ...totals(group), sessions: null, goal: null },
        ])
        expect(found.get(name), name).toEqual(new Map(expected as [string, Row][]))
      }
    }

    async function expectSteps(query: Query, sessions: readonly Selected[]) {
      const byVisitor = [...groupsBy(selectedOf(sessions), ({ cookie_id }) => cookie_id).values()]
      // No sum of the random pauses is exactly this long.
      const withinMs = 2 * hourMs + 777
      const { steps } = await ask<{ steps: { visitors: number }[] }>('POST', 'funnel', {
        ...query,
        steps: ['event_type:eq:page_view', 'page_path:eq:/thanks'],
        within_ms: withinMs,
      })
      const begun = byVisitor.filter((seen) => seen.some(isView))
      const done = begun.filter((seen) =>
        seen.some(
          (first, index) =>
            isView(first) &&
            seen
              .slice(index + 1)
              .some((event) => isOrder(event) && event.ts_millis - first.ts_millis <= withinMs),
        ),
      )
      expect(steps.map((step) => step.visitors)).toEqual([begun.length, done.length])

      const { cohorts } = await ask<{
        cohorts: { start_ms: number; visitors: number; returned: number[] }[]
      }>('GET', 'retention', { ...query, interval: 'day' })
      const dates = [0, 1, 2].map((days) => shifted(from, days))
      for (const [index, { start_ms, visitors, returned }] of cohorts.entries()) {
        expect(dateOf(start_ms)).toBe(dates[index])
        const group = byVisitor.filter(([first]) => dateOf(first!.ts_millis) === dates[index])
        expect(visitors).toBe(group.length)
        const isOn = (date: string) => (seen: readonly Seen[]) =>
          seen.some(({ ts_millis }) => dateOf(ts_millis) === date)
        expect(returned).toEqual(dates.slice(index).map((date) => group.filter(isOn(date)).length))
      }

      const { links } = await ask<{ links: { step: number; sessions: number }[] }>(
        'GET',
        'journeys',
        query,
      )
      const first = links.filter(({ step }) => step === 1)
      expect(first.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(
        starting(sessions).filter(({ views }) => views.some(({ page_path }) => page_path !== null))
          .length,
      )
    }
  })
})
