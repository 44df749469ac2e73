import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf, openEvents, pixelId, projectId, type Row } from '../events/harness.ts'
import { seededNumbers } from './seededNumbers.ts'

/** Figures of all events, bots among them, against the counts of the events API. */
let events: Awaited<ReturnType<typeof openEvents>>
const dayMs = 86_400_000
const minuteMs = 60_000
const midnight = Math.floor(Date.now() / dayMs) * dayMs
const otherPixel = randomUUID()
const paths = ['/', '/pricing', '/docs', '/blog/ä,b', null]
const countries = ['DE', 'US', null]
const types = ['page_view', 'page_view', 'click', 'custom']

const rows: Row[] = []
beforeAll(async () => {
  const below = seededNumbers(7)
  for (let visitor = 0; visitor < 40; visitor++) {
    const cookie_id = randomUUID()
    const country = countries[below(3)]
    let at = midnight - 8 * dayMs + below(6 * dayMs)
    let step = 1
    for (let n = 1 + below(25); n > 0; n--) {
      rows.push(
        eventOf(at, 0, {
          cookie_id,
          country,
          event_type: step === 0 ? 'click' : types[below(4)],
          page_path: paths[below(5)],
          pixel_id: below(4) === 0 ? otherPixel : pixelId,
          event_data: '{"n":"1"}',
          utm_source: null,
          is_bot: below(6) === 0,
        }),
      )
      // Never two page views in one millisecond: which of them was left first nobody knows.
      step = [0, 1, 9 * minuteMs, 30 * minuteMs - 1, 30 * minuteMs, 7 * 60 * minuteMs][below(6)]!
      at += step
    }
  }
  // A DSP delivery is not a visit, with any cookies.
  rows.push(
    eventOf(midnight - 4 * dayMs, 0, {
      source: 'svcdsp',
      event_type: 'click',
      cookie_id: rows[0]!.cookie_id,
    }),
  )
  events = await openEvents()
  await events.insertHits(rows.map(({ utm_source: _, ...row }) => row))
})
afterAll(() => events.close())

type Query = Record<string, string>
async function analytics<T>(path: string, query: Query): Promise<T> {
  const asked = new URLSearchParams({ ...query, include_bots: 'true' })
  const answer = await events.app.inject({ url: `/api/v1/analytics/${path}?${asked}` })
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}
async function counts(query: Query): Promise<{ total: number; counts: Row[] }> {
  const answer = await events.get('events/web_event/counts', { limit: '10000', ...query })
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}
const joined = (...filters: (string | undefined)[]) => filters.filter(Boolean).join(',')
const withFilter = (query: Query, more: string): Query => ({
  ...query,
  filter: joined(query.filter, more),
})

const conditions = [
  'country:eq:DE',
  'country:ne:DE',
  'event_type:eq:click',
  'page_path:like:/%',
  'page_path:eq:/blog/ä,b',
  'page_path:in:/|/docs',
  'event_data.n:eq:1',
  'resolved:eq:false',
]
const query = fc
  .record({
    first: fc.integer({ min: 0, max: 8 * 24 }),
    hours: fc.integer({ min: 1, max: 9 * 24 }),
    pixel: fc.constantFrom(undefined, pixelId, otherPixel),
    filters: fc.uniqueArray(fc.constantFrom(...conditions), { maxLength: 2 }),
  })
  .map(({ first, hours, pixel, filters }): Query => {
    const start = midnight - 9 * dayMs + first * 60 * minuteMs
    return {
      project_id: projectId,
      start_ms: String(start),
      end_ms: String(start + hours * 60 * minuteMs),
      ...(pixel && { pixel_id: pixel }),
      ...(filters.length > 0 && { filter: filters.join(',') }),
    }
  })
const forAll = (check: (query: Query) => Promise<void>) =>
  fc.assert(fc.asyncProperty(query, check), { numRuns: 8, seed: 11 })

interface Overview {
  events: number
  visitors: number
  page_views: number
  sessions: number
  bounce_rate: number | null
  time_on_page_ms: number | null
}

describe('the overview', () => {
  test('equals counts of the events API exactly, whatever window, pixel and filter', async () => {
    await forAll(async (query) => {
      const { overview } = await analytics<{ overview: Overview }>('overview', query)
      const [visitors, views] = await Promise.all([
        counts({ ...query, distinct: 'cookie_id' }),
        counts(withFilter(query, 'event_type:eq:page_view')),
      ])
      expect(overview).toMatchObject({
        events: visitors.total,
        visitors: visitors.counts[0]?.distinct ?? 0,
        page_views: views.total,
      })
    })
  })

  test('compared, tells of the period before what it tells of that period itself', async () => {
    const [start, end] = [midnight - 3 * dayMs, midnight - dayMs - 5 * minuteMs]
    const period = (from: number, to: number) => ({
      project_id: projectId,
      start_ms: String(from),
      end_ms: String(to),
    })
    const { previous } = await analytics<{ previous: Overview }>('overview', {
      ...period(start, end),
      compare: 'previous',
    })
    const { overview } = await analytics<{ overview: Overview }>(
      'overview',
      period(start - 2 * dayMs, end - 2 * dayMs),
    )
    expect(overview.events).toBeGreaterThan(0)
    expect(previous).toEqual(overview)
  })
})

describe('the series', () => {
  test('by day and by hour equals counts, with zeros between', async () => {
    await forAll(async (query) => {
      for (const interval of ['day', 'hour']) {
        const { timeseries } = await analytics<{ timeseries: Row[] }>('timeseries', {
          ...query,
          interval,
        })
        const counted = await counts({ ...query, group_by: interval, distinct: 'cookie_id' })
        expect(
          timeseries
            .filter(({ events }) => events !== 0)
            .map(({ start_ms, events, visitors }) => [start_ms, events, visitors]),
        ).toEqual(
          counted.counts.map((row) => [Date.parse(String(row[interval])), row.count, row.distinct]),
        )
        const length = interval === 'day' ? dayMs : 60 * minuteMs
        for (const [index, { start_ms }] of timeseries.entries())
          expect(start_ms).toBe(Number(timeseries[0]!.start_ms) + index * length)
      }
    })
  })

  test('by minute adds up to the series by hour, for a day of 25 hours', async () => {
    const start = midnight - 5 * dayMs
    const query = {
      project_id: projectId,
      start_ms: String(start),
      end_ms: String(start + 25 * 60 * minuteMs),
      include: 'sessions',
    }
    type Series = { timeseries: (Overview & { start_ms: number })[] }
    const by = async (interval: string) =>
      (await analytics<Series>('timeseries', { ...query, interval })).timeseries
    const [minutes, hours] = [await by('minute'), await by('hour')]
    expect(minutes.map(({ start_ms }) => start_ms)).toEqual(
      Array.from({ length: 1_500 }, (_, minute) => start + minute * minuteMs),
    )
    expect(hours.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(0)
    for (const figure of ['events', 'page_views', 'sessions'] as const)
      expect(
        hours.map((_, hour) =>
          minutes.slice(hour * 60, (hour + 1) * 60).reduce((sum, point) => sum + point[figure], 0),
        ),
      ).toEqual(hours.map((point) => point[figure]))
    const tooLong = { ...query, end_ms: String(start + 26 * 60 * minuteMs), interval: 'minute' }
    await expect(analytics('timeseries', tooLong)).rejects.toThrow(/1500 points/)
  })

  test.each(['week', 'month'])(
    'by %s has every event once, in intervals that begin where it says',
    async (interval) => {
      const query = {
        project_id: projectId,
        start_ms: String(midnight - 400 * dayMs),
        end_ms: String(midnight),
      }
      const { timeseries } = await analytics<{
        timeseries: { start_ms: number; events: number }[]
      }>('timeseries', {
        ...query,
        interval,
      })
      const startOf = (ms: number) => {
        const at = new Date(Math.floor(ms / dayMs) * dayMs)
        if (interval === 'month') at.setUTCDate(1)
        else at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
        return at.getTime()
      }
      const expected = new Map<number, number>()
      for (const { ts_millis, source } of rows) {
        if (source === 'svcdsp') continue
        const start = startOf(Number(ts_millis))
        expected.set(start, (expected.get(start) ?? 0) + 1)
      }
      const found = timeseries.filter(({ events }) => events > 0)
      expect(new Map(found.map(({ start_ms, events }) => [start_ms, events]))).toEqual(expected)
    },
  )

  test('by month begins at midnight UTC on the 1st', async () => {
    const first = new Date(midnight - 40 * dayMs)
    first.setUTCDate(1)
    const start = first.getTime()
    const project_id = randomUUID()
    await events.insertHits([start - 1, start].map((at) => eventOf(at, 0, { project_id })))
    const { timeseries } = await analytics<{ timeseries: Row[] }>('timeseries', {
      project_id,
      interval: 'month',
      start_ms: String(start - 20 * dayMs),
      end_ms: String(midnight),
    })
    const counted = new Map(timeseries.map((point) => [point.start_ms, point.events]))
    expect([
      counted.get(start),
      counted.get(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - 1)),
    ]).toEqual([1, 1])
  })

  test('of the period before stands point for point beside this one', async () => {
    const [start, end] = [midnight - 3 * dayMs, midnight - dayMs - 5 * minuteMs]
    const query = { project_id: projectId, interval: 'day' }
    const { timeseries, previous } = await analytics<{ timeseries: Row[]; previous: Row[] }>(
      'timeseries',
      {
        ...query,
        start_ms: String(start),
        end_ms: String(end),
        compare: 'previous',
      },
    )
    const before = await analytics<{ timeseries: Row[] }>('timeseries', {
      ...query,
      start_ms: String(start - 2 * dayMs),
      end_ms: String(end - 2 * dayMs),
    })
    expect(previous.map(({ start_ms }) => start_ms)).toEqual(
      timeseries.map(({ start_ms }) => start_ms),
    )
    expect(previous.map(({ start_ms: _, ...point }) => point)).toEqual(
      before.timeseries.map(({ start_ms: _, ...point }) => point),
    )
  })
})

interface Breakdowns {
  breakdowns: Record<string, { values: Row[]; has_more: boolean }>
}

describe('breakdowns', () => {
  test('equal counts by each field, nulls among them', async () => {
    await forAll(async (query) => {
      const dimensions = ['page_path', 'country', 'event_type', 'resolved', 'pixel_id']
      const { breakdowns } = await analytics<Breakdowns>('breakdown', {
        ...query,
        dimensions: dimensions.join(','),
        limit: '1000',
      })
      for (const dimension of dimensions) {
        const counted = await counts({ ...query, group_by: dimension, distinct: 'cookie_id' })
        const key = (value: unknown) => (value === null ? 'null' : `=${value}`)
        expect(
          new Map(
            breakdowns[dimension]!.values.map(({ value, events, visitors }) => [
              key(value),
              [events, visitors],
            ]),
          ),
        ).toEqual(
          new Map(counted.counts.map((row) => [key(row[dimension]), [row.count, row.distinct]])),
        )
      }
    })
  })

  test('stop at the limit, those with the most visitors first, and say so', async () => {
    const query = {
      project_id: projectId,
      start_ms: String(midnight - 9 * dayMs),
      end_ms: String(midnight),
    }
    const { breakdowns } = await analytics<Breakdowns>('breakdown', {
      ...query,
      dimensions: 'page_path,entry_page',
      limit: '2',
    })
    for (const { values, has_more } of Object.values(breakdowns)) {
      expect(values).toHaveLength(2)
      expect(has_more).toBe(true)
    }
    const [first, second] = breakdowns.page_path!.values
    expect(Number(first!.visitors)).toBeGreaterThanOrEqual(Number(second!.visitors))
  })
})

test('a day has the sessions that start in it, whole; days add up to the period', async () => {
  const project = randomUUID()
  const first = midnight - 3 * dayMs
  const visit = (ms: number, more: Row = {}) =>
    eventOf(first, -ms, { project_id: project, cookie_id: visitor, ...more })
  const visitor = randomUUID()
  await events.insertHits([
    visit(dayMs - 10 * minuteMs),
    visit(dayMs + 10 * minuteMs),
    visit(dayMs + 12 * minuteMs, { event_type: 'click' }),
  ])
  const of = async (day: number, days = 1) => {
    const query = {
      project_id: project,
      start_ms: String(first + day * dayMs),
      end_ms: String(first + (day + days) * dayMs),
    }
    return (await analytics<{ overview: Overview }>('overview', query)).overview
  }
  const session = { sessions: 1, bounce_rate: 0, time_on_page_ms: 11 * minuteMs }
  const none = { sessions: 0, bounce_rate: null, time_on_page_ms: null }
  expect(await of(0)).toEqual({ events: 1, visitors: 1, page_views: 1, ...session })
  expect(await of(1)).toEqual({ events: 2, visitors: 1, page_views: 1, ...none })
  expect(await of(0, 2)).toEqual({ events: 3, visitors: 1, page_views: 2, ...session })
})

test('the last half hour has its events minute by minute', async () => {
  const project = randomUUID()
  const now = Date.now()
  const [here, gone] = [randomUUID(), randomUUID()]
  await events.insertHits([
    eventOf(now, 1_000, { project_id: project, cookie_id: here, page_path: '/now' }),
    eventOf(now, 20 * minuteMs, {
      project_id: project,
      cookie_id: gone,
      event_type: 'click',
      page_path: '/then',
    }),
    eventOf(now, 32 * minuteMs, { project_id: project }),
  ])
  const live = await analytics<Row & { minutes: Row[] }>('live', { project_id: project })
  expect(live).toMatchObject({ visitors_now: 1, visitors: 2, events: 2, page_views: 1 })
  expect(live.pages).toEqual([
    { page_path: '/now', visitors: 1, page_views: 1 },
    { page_path: '/then', visitors: 1, page_views: 0 },
  ])
  expect(live.minutes).toHaveLength(30)
  expect(live.minutes.filter(({ events }) => events !== 0)).toHaveLength(2)
})
