import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf, openEvents, projectId, type Row } from '../events/harness.ts'
import { type Ask, changes, hourMs, openProject, zones } from './zonedProject.ts'

/** Figures of six visitors, counted by hand, in several time zones and around both times that clocks change. */
let events: Awaited<ReturnType<typeof openEvents>>
let ask: Ask
const minuteMs = 60_000

/** Six visitors of a day, whose visits touch the midnights and the change of the clocks. */
function knownVisitors({ date, hours }: (typeof changes)[number]): Row[] {
  const day = Date.parse(date)
  // In Los Angeles the day begins and ends with different offsets.
  const begins = day + (hours === 25 ? 7 : 8) * hourMs
  const ends = begins + hours * hourMs
  const change = begins + 2 * hourMs
  const view = (cookie_id: string, ms: number, path: string, more: Row = {}) =>
    eventOf(ms, 0, {
      cookie_id,
      page_path: path,
      page_host: 'shop.example',
      page_url: `https://shop.example${path}`,
      ...more,
    })
  const [one, two, three, four, five, six] = Array.from({ length: 6 }, () => randomUUID())
  const google = { referrer_url: 'https://www.google.com/', country: 'DE' }
  const phone = { country: 'US', device_type: 'mobile' }
  const campaign = '?utm_source=newsletter&utm_medium=email&utm_campaign=may'
  const kathmandu = day + 18 * hourMs + 15 * minuteMs
  return [
    view(one!, begins - 10 * minuteMs, '/', google),
    view(one!, begins + 10 * minuteMs, '/thanks', { country: 'DE' }),
    view(two!, change - 30 * minuteMs, '/pricing', {
      ...phone,
      page_url: `https://shop.example/pricing${campaign}`,
    }),
    view(two!, change + 30 * minuteMs, '/thanks', phone),
    view(three!, ends - minuteMs, '/', { country: 'US' }),
    view(four!, ends, '/', { country: 'US' }),
    view(five!, kathmandu - minuteMs, '/docs', { ...google, device_type: 'mobile' }),
    view(five!, kathmandu, '/thanks', { country: 'DE', device_type: 'mobile' }),
    view(six!, day - 1, '/', {
      page_url: 'https://shop.example/?utm_source=fb&utm_medium=paid_social',
    }),
    view(six!, day, '/form', { event_type: 'form_submission' }),
  ]
}

beforeAll(async () => {
  events = await openEvents()
  await events.insertHits(changes.flatMap(knownVisitors))
  ask = await openProject(events, projectId)
})
afterAll(() => events.close())

const orderFunnel = { steps: ['page_path:eq:/', 'page_path:eq:/thanks'], within_ms: 24 * hourMs }

describe.each(changes)('six known visitors on $date', ({ date, next }) => {
  /** By zone and filter: visitors, page views, events, sessions, bounces, orders, and the funnel's steps. */
  const known: Record<(typeof zones)[number], Record<string, number[]>> = {
    UTC: {
      '': [4, 6, 7, 4, 2, 3, 1, 1],
      'source:eq:Google': [2, 4, 4, 2, 0, 2, 1, 1],
      'utm_campaign:eq:may': [1, 1, 1, 1, 1, 0, 0, 0],
      'entry_page:eq:/': [2, 2, 3, 1, 0, 1, 1, 1],
      'country:eq:US': [1, 2, 2, 2, 2, 1, 0, 0],
      'device_type:eq:mobile': [2, 4, 4, 3, 2, 2, 0, 0],
    },
    'America/Los_Angeles': {
      '': [4, 6, 6, 4, 3, 3, 1, 0],
      'source:eq:Google': [2, 3, 3, 1, 0, 2, 0, 0],
      'utm_campaign:eq:may': [1, 1, 1, 1, 1, 0, 0, 0],
      'entry_page:eq:/': [2, 2, 2, 1, 1, 1, 1, 0],
      'country:eq:US': [2, 3, 3, 3, 3, 1, 1, 0],
      'device_type:eq:mobile': [2, 4, 4, 3, 2, 2, 0, 0],
    },
    'Asia/Kathmandu': {
      '': [4, 6, 7, 5, 3, 2, 2, 1],
      'source:eq:Google': [2, 3, 3, 2, 0, 1, 1, 1],
      'utm_campaign:eq:may': [1, 1, 1, 1, 1, 0, 0, 0],
      'entry_page:eq:/': [2, 3, 4, 2, 1, 1, 2, 1],
      'country:eq:US': [1, 2, 2, 2, 2, 1, 0, 0],
      'device_type:eq:mobile': [2, 3, 3, 3, 2, 1, 0, 0],
    },
  }
  test.each(zones)('have the figures that were counted by hand in %s', async (time_zone) => {
    for (const [filter, figures] of Object.entries(known[time_zone])) {
      const query = {
        project_id: projectId,
        time_zone,
        start_time: date,
        end_time: next,
        ...(filter && { filter }),
      }
      const { overview } = await ask<{ overview: Record<string, number> }>('GET', 'overview', query)
      const { conversions } = await ask<{ conversions: { visitors: number }[] }>(
        'GET',
        'conversions',
        query,
      )
      const { steps } = await ask<{ steps: { visitors: number }[] }>('POST', 'funnel', {
        ...query,
        ...orderFunnel,
      })
      const bounces = Math.round(overview.bounce_rate! * overview.sessions!)
      expect(
        [
          overview.visitors,
          overview.page_views,
          overview.events,
          overview.sessions,
          bounces,
          conversions[0]!.visitors,
          ...steps.map((step) => step.visitors),
        ],
        `${time_zone} ${filter}`,
      ).toEqual(figures)
    }
  })
})
