import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countDays } from '../../../collector/analytics/counting/countDays.ts'
import {
  type AnalyticsPlan,
  readFiguresFilters,
} from '../../../collector/analytics/figuresRequest.ts'
import { type FunnelRow, funnelQuery } from '../../../collector/analytics/funnelQuery.ts'
import { readSteps } from '../../../collector/analytics/funnelSteps.ts'
import {
  countedJourneysQuery,
  type JourneyPageRow,
  type JourneyRow,
  journeyPagesQuery,
  journeysQuery,
} from '../../../collector/analytics/journeysQuery.ts'
import { type RetentionRow, retentionQuery } from '../../../collector/analytics/retentionQuery.ts'
import { readRollup } from '../../../collector/analytics/rollup/rolledDays.ts'
import {
  estimated,
  exactEventsMax,
  sampleFor,
  withSample,
} from '../../../collector/analytics/visitorSample.ts'
import { utc } from '../../../collector/platform/timeZone.ts'
import { eventOf, openEvents, organizationId, projectId, type Row } from '../events/harness.ts'
import { seededNumbers } from './seededNumbers.ts'
import { readerOf } from './sharedReader.ts'

/** Figures estimated from a sample of the visitors, against the exact ones. */
let events: Awaited<ReturnType<typeof openEvents>>
const dayMs = 86_400_000
const start = Date.UTC(2026, 9, 5)
const days = 4
const visitors = 5_000
let rows = 0

beforeAll(async () => {
  const below = seededNumbers(8)
  events = await openEvents()
  const made: Row[] = []
  for (let visitor = 0; visitor < visitors; visitor++) {
    const cookie_id = randomUUID()
    let at = start + below((days - 2) * dayMs)
    for (let n = 1 + below(5); n > 0; n--) {
      const [event_type, page_path] = [
        ['page_view', 'click'][below(2)],
        ['/', '/pricing', '/docs'][below(3)],
      ]
      made.push(eventOf(at, 0, { cookie_id, event_type, page_path, event_data: '{}' }))
      at += [60_000, dayMs / 4][below(2)]! + below(1_000)
    }
  }
  rows = made.length
  await events.insert(made)
  await countDays(events.clickhouse.live, projectId, {
    min: { day: 1, hours: 1 },
    nowMs: start + (days - 1) * dayMs,
  })
}, 900_000)
afterAll(() => events.close())

const planOf = (filter?: string): AnalyticsPlan => ({
  source: 'pixel',
  bots: 'excluded',
  zone: utc,
  window: { startMs: start, endMs: start + days * dayMs },
  scope: { organizationId, projectId, pixelId: null, campaignId: null },
  ...readFiguresFilters(filter),
})

/** All figures of a plan by name, from counts where there are some. */
async function figuresOf(
  plan: AnalyticsPlan,
  areCounted: boolean,
): Promise<Record<string, number>> {
  const { live } = events.clickhouse
  const { visits: counted } = areCounted ? await readRollup(readerOf(live), plan) : { visits: null }
  expect(counted !== null).toBe(areCounted)
  const found: Record<string, number> = {}
  const add = (name: string, count: number) => {
    found[name] = (found[name] ?? 0) + estimated(plan, count)
  }
  const steps = readSteps(['event_type:eq:page_view', 'event_type:eq:click'])
  for (const { level, visitors } of await live.rows<FunnelRow>(funnelQuery(plan, steps, counted)))
    for (let step = 1; step <= level; step++) add(`step ${step}`, visitors)
  const asked = { steps: 2, start: undefined }
  const named =
    counted && (await live.rows<JourneyPageRow>(journeyPagesQuery(plan, asked, 3, counted)))
  const links = await live.rows<JourneyRow>(
    counted ? countedJourneysQuery(plan, asked, named!, counted) : journeysQuery(plan, asked),
  )
  for (const { step, from_page, sessions } of links) add(`${from_page} at ${step}`, sessions)
  if (areCounted) return found
  const starts = [start, start + dayMs, start + 2 * dayMs]
  const coming = { first: [], returning: [] }
  for (const { cohort, again, visitors } of await live.rows<RetentionRow>(
    retentionQuery(plan, coming, starts),
  ))
    add(`cohort ${cohort} in ${again}`, visitors)
  return found
}

test.each([
  ['events', false, undefined],
  ['sessions of events', false, 'country:ne:XX'],
  ['counted sessions', true, undefined],
])(
  'from %s they differ by little more than chance, and are always the same',
  async (_, areCounted, filter) => {
    const exact = await figuresOf(planOf(filter), areCounted)
    expect(exact['step 1']).toBeGreaterThan(visitors / 2)
    expect(exact['/ at 1']).toBeGreaterThan(visitors / 4)
    for (const oneVisitorOf of [2, 10]) {
      const plan = { ...planOf(filter), oneVisitorOf }
      const sampled = await figuresOf(plan, areCounted)
      expect(await figuresOf(plan, areCounted)).toEqual(sampled)
      expect(sampled).not.toEqual(exact)
      for (const [name, count] of Object.entries(exact)) {
        // A visitor has at most five sessions, which are all in the sample or all outside of it.
        const deviation = Math.sqrt(count * (oneVisitorOf - 1)) * (name.includes(' at ') ? 2 : 1)
        expect(Math.abs(sampled[name]! - count), name).toBeLessThan(4.5 * deviation)
      }
    }
  },
)

test('a window with few events is exact; a larger one reads as many visitors as it can', async () => {
  const { live } = events.clickhouse
  const plan = planOf()
  expect(await withSample(live, plan, 'events')).toBe(plan)
  expect(await withSample(live, plan, 'events', rows)).toBe(plan)
  expect(await withSample(live, plan, 'events', rows - 1)).toEqual({ ...plan, oneVisitorOf: 5 })
  const elsewhere = { ...plan, scope: { ...plan.scope, projectId: randomUUID() } }
  expect(await withSample(live, elsewhere, 'events', 0)).toBe(elsewhere)
  expect(sampleFor(100_000_000, exactEventsMax['counted sessions'])).toBe(10)
  expect(sampleFor(10 ** 15, exactEventsMax.events)).toBe(1_000)
})
