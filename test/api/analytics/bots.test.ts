import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { eventOf, openEvents, organizationId, type Row } from '../events/harness.ts'
import { seededNumbers } from './seededNumbers.ts'

/**
 * Two projects with the same visits: in one bots come too, as visitors of their own and between the events of others.
 * Without bots the figures of both are equal; with bots the figures of the first equal counts.
 */
let events: Awaited<ReturnType<typeof openEvents>>
const dayMs = 86_400_000
const minuteMs = 60_000
const now = Date.now()
const midnight = Math.floor(now / dayMs) * dayMs
const start = midnight - 6 * dayMs
const [withBots, without] = [randomUUID(), randomUUID()]
const paths = ['/', '/pricing', '/docs', null]
const goals = [
  { name: 'Clicks', filter: 'event_type:eq:click' },
  { name: 'Docs', filter: 'page_path:like:/doc%' },
]

/** A visitor's events; `isBot` says which of them are a bot's. */
function visit(below: (n: number) => number, startMs: number, isBot: () => boolean): Row[] {
  const cookie_id = randomUUID()
  let at = startMs
  return Array.from({ length: 2 + below(12) }, () => {
    const row = eventOf(at, 0, {
      cookie_id,
      event_type: ['page_view', 'page_view', 'click'][below(3)],
      page_path: paths[below(4)],
      country: ['DE', 'US', null][below(3)],
      is_bot: isBot(),
    })
    at += [1_000, 9 * minuteMs, 29 * minuteMs, 30 * minuteMs, 20 * 60 * minuteMs][below(5)]!
    return row
  })
}

const rows: Row[] = []
beforeAll(async () => {
  const below = seededNumbers(23)
  const kinds = [() => false, () => true, () => below(3) === 0]
  for (let visitor = 0; visitor < 60; visitor++)
    rows.push(...visit(below, start + below(4 * dayMs), kinds[visitor % 3]!))
  // The last half hour, for the live figures.
  rows.push(
    ...[3, 8, 25].flatMap((ago) =>
      [true, false].map((is_bot) => eventOf(now, ago * minuteMs, { is_bot, page_path: '/now' })),
    ),
  )
  // The clock stands still: two reads of the live figures are of the same minutes.
  events = await openEvents({ now: () => now })
  await storeOrganization(events.postgres, organizationId)
  for (const projectId of [withBots, without]) {
    await storeProject(events.postgres, projectId, organizationId)
    await events.postgres.query('INSERT INTO analytics_goals (project_id, goals) VALUES ($1, $2)', [
      projectId,
      JSON.stringify(goals),
    ])
  }
  await events.insertHits(rows.map((row) => ({ ...row, project_id: withBots })))
  await events.insertHits(
    rows
      .filter(({ is_bot }) => !is_bot)
      .map((row) => ({ ...row, project_id: without, event_id: randomUUID() })),
  )
})
afterAll(() => events.close())

const window = { start_ms: start, end_ms: now + 1 }
/** Every route of figures with its request. */
const routes: [name: string, method: 'GET' | 'POST', path: string, asked: Row][] = [
  ['overview', 'GET', 'overview', { ...window, compare: 'previous' }],
  ['overview of a filter', 'GET', 'overview', { ...window, filter: 'country:eq:DE' }],
  ['overview of entries', 'GET', 'overview', { ...window, filter: 'is_entry:eq:true' }],
  ['timeseries by hour', 'GET', 'timeseries', { ...window, interval: 'hour' }],
  ['timeseries by day', 'GET', 'timeseries', { ...window, interval: 'day', compare: 'previous' }],
  [
    'breakdown',
    'GET',
    'breakdown',
    { ...window, dimensions: 'page_path,country,event_type,is_bot' },
  ],
  ['breakdown of sessions', 'GET', 'breakdown', { ...window, dimensions: 'entry_page,exit_page' }],
  ['live', 'GET', 'live', {}],
  ['conversions', 'GET', 'conversions', { ...window, compare: 'previous' }],
  ['retention', 'GET', 'retention', { ...window, interval: 'day' }],
  ['journeys', 'GET', 'journeys', { ...window, pages: 50 }],
  ['funnel', 'POST', 'funnel', { ...window, steps: ['page_path:eq:/', 'event_type:eq:click'] }],
  ['visitors', 'POST', 'visitors', { ...window, limit: 10_000 }],
  [
    'visitors of a funnel',
    'POST',
    'visitors',
    { ...window, limit: 10_000, steps: ['page_path:eq:/', 'event_type:eq:click'], step: 2 },
  ],
]

async function figures(method: 'GET' | 'POST', path: string, asked: Row): Promise<Row> {
  const url = `/api/v1/analytics/${path}`
  const query = Object.fromEntries(
    Object.entries(asked).map(([name, value]) => [name, String(value)]),
  )
  const answer = await events.app.inject(
    method === 'GET' ? { url, query } : { method, url, payload: asked },
  )
  expect(answer.statusCode, answer.body).toBe(200)
  const { meta: _, bots: __, ...told } = answer.json()
  return told
}

describe('figures', () => {
  test.each(routes)(
    '%s: as if no bot had sent anything, unless include_bots=true',
    async (...route) => {
      const [, method, path, asked] = route
      const of = (project_id: string, more: Row = {}) =>
        figures(method, path, { ...asked, ...more, project_id })
      const expected = await of(without)
      expect(await of(withBots)).toEqual(expected)
      expect(await of(withBots, { include_bots: false })).toEqual(expected)
      expect(await of(withBots, { include_bots: true })).not.toEqual(expected)
      expect(await of(without, { include_bots: true })).toEqual(expected)
    },
  )

  test('the overview counts what it hides, and with it equals counts', async () => {
    const asked = { ...window, project_id: withBots }
    const query = Object.fromEntries(
      Object.entries(asked).map(([name, value]) => [name, String(value)]),
    )
    const read = async (more: Record<string, string>) =>
      (
        await events.app.inject({ url: '/api/v1/analytics/overview', query: { ...query, ...more } })
      ).json()
    const counts = async (more: Record<string, string>) => {
      const answer = (await events.get('events/web_event/counts', { ...query, ...more })).json()
      return { events: answer.total, distinct: answer.counts[0]?.distinct }
    }
    const [hidden, shown] = [await read({}), await read({ include_bots: 'true' })]
    const bots = await counts({ filter: 'is_bot:eq:true', distinct: 'cookie_id' })
    const views = await counts({ filter: 'is_bot:eq:true,event_type:eq:page_view' })
    expect(hidden.bots).toEqual({
      events: bots.events,
      visitors: bots.distinct,
      page_views: views.events,
    })
    expect(shown.bots).toEqual(hidden.bots)
    expect(shown.overview.events - hidden.overview.events).toBe(bots.events)
    const all = await counts({ distinct: 'cookie_id' })
    expect(shown.overview).toMatchObject({ events: all.events, visitors: all.distinct })
    const own = await read({ include_bots: 'true', filter: 'is_bot:eq:true' })
    expect(own.overview.sessions).toBeGreaterThan(0)
    expect(shown.overview.sessions).toBe(hidden.overview.sessions + own.overview.sessions)
    const people = await counts({ filter: 'is_bot:eq:false', distinct: 'cookie_id' })
    expect(hidden.overview).toMatchObject({ events: people.events, visitors: people.distinct })
  })
})

test('include_bots is true or false', async () => {
  for (const path of ['overview', 'timeseries', 'live']) {
    const query = { project_id: withBots, include_bots: 'yes' }
    const answer = await events.app.inject({ url: `/api/v1/analytics/${path}`, query })
    expect(answer.json()).toMatchObject({
      error: 'invalid_parameter',
      message: expect.stringContaining('include_bots: must be true or false'),
    })
  }
})
