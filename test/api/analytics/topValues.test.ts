import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BreakdownRow, breakdownsQuery } from '../../../collector/analytics/breakdownQuery.ts'
import { countDays } from '../../../collector/analytics/counting/countDays.ts'
import type { AnalyticsPlan } from '../../../collector/analytics/figuresRequest.ts'
import { type RolledDays, readRollup } from '../../../collector/analytics/rollup/rolledDays.ts'
import { hasCandidates, readTopValues } from '../../../collector/analytics/topValues.ts'
import type { QueryExecutor } from '../../../collector/api/access/queryExecutor.ts'
import type { Query } from '../../../collector/platform/clickhouse/client.ts'
import { utc } from '../../../collector/platform/timeZone.ts'
import { eventOf, openEvents, organizationId, type Row } from '../events/harness.ts'
import { seededNumbers } from './seededNumbers.ts'
import { readerOf } from './sharedReader.ts'

/** Top lists whose visitors are merged for candidates alone, against those of all values. */
let events: Awaited<ReturnType<typeof openEvents>>
const dayMs = 86_400_000
const start = Date.UTC(2026, 9, 5)
const days = 3
const pages = 60
const fields = ['page_path', 'event_type']

/** The share of visitors of a page by its rank. */
type Share = (rank: number) => number
const shares: Record<string, Share> = { steep: (rank) => 1 / rank ** 2, flat: () => 1 }
const projects: Record<string, string> = { steep: randomUUID(), flat: randomUUID() }

beforeAll(async () => {
  const below = seededNumbers(9)
  events = await openEvents()
  for (const [name, project_id] of Object.entries(projects)) {
    const made: Row[] = []
    const add = (cookie_id: string, page_path: string | null, at: number) =>
      made.push(
        eventOf(at, 0, {
          project_id,
          cookie_id,
          event_type: 'page_view',
          page_path,
          event_data: '{}',
        }),
      )
    for (let rank = 1; rank <= pages; rank++) {
      // The path of some events is unknown.
      const path = rank === 2 ? null : `/${rank}`
      const visitors = Math.ceil(40 * shares[name]!(rank))
      for (let visitor = 0; visitor < visitors; visitor++)
        add(randomUUID(), path, start + below(days * dayMs))
      // One visitor with as many events as the page of the highest rank has.
      if (rank < pages) continue
      const often = randomUUID()
      for (let n = 0; n < 40; n++) add(often, path, start + below(days * dayMs))
    }
    await events.insert(made)
    // The last day is read from events.
    await countDays(events.clickhouse.live, project_id, {
      min: { day: 1, hours: 1 },
      nowMs: start + (days - 1) * dayMs,
    })
  }
}, 300_000)
afterAll(() => events.close())

const planOf = (projectId: string): AnalyticsPlan => ({
  source: 'pixel',
  bots: 'excluded',
  zone: utc,
  filters: [],
  window: { startMs: start, endMs: start + days * dayMs },
  scope: { organizationId, projectId, pixelId: null, campaignId: null },
})

async function readBoth(projectId: string, limit: number) {
  const { live } = events.clickhouse
  const plan = planOf(projectId)
  const { events: rolled } = await readRollup(readerOf(live), plan)
  const asked = { limit, rolled: rolled! }
  let statements = 0
  const queryExecutor = {
    rows: <Row>(query: Query) => {
      statements++
      return live.rows<Row>(query)
    },
  } as QueryExecutor
  const top = await readTopValues(queryExecutor, plan, fields, asked)
  const all = await live.rows<BreakdownRow>(breakdownsQuery(plan, fields, asked))
  return { top, all, statements, rolled: rolled! }
}

test.each([1, 2, 5])('a steep list of %i is read from its candidates', async (limit) => {
  const { top, all, statements } = await readBoth(projects.steep!, limit)
  expect(top).toEqual(all)
  expect(top.filter(({ dimension }) => dimension === 'page_path')).toHaveLength(limit + 1)
  expect(statements).toBe(2)
})

test.each([1, 3])(
  'a flat list of %i, whose candidates may lack a value, is read in full',
  async (limit) => {
    const { top, all, statements } = await readBoth(projects.flat!, limit)
    expect(top).toEqual(all)
    expect(statements).toBe(3)
  },
)

test.each(Object.keys(projects))('a list of all values (%s) is the same', async (name) => {
  const { top, all, statements } = await readBoth(projects[name]!, pages)
  expect(top).toEqual(all)
  expect(top).toHaveLength(pages + 1)
  expect(statements).toBe(2)
})

test('only counts of many events are read for candidates, and only for short lists', async () => {
  const { rolled } = await readBoth(projects.steep!, 1)
  expect(rolled.events).toBeGreaterThan(40)
  expect(hasCandidates(rolled, 10)).toBe(false)
  const large: RolledDays = { ...rolled, events: 1_000_000 }
  expect(hasCandidates(large, 10)).toBe(true)
  expect(hasCandidates(large, 1_000)).toBe(false)
})
