import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conversionsQuery } from '../../../collector/analytics/conversionsQuery.ts'
import { countDays } from '../../../collector/analytics/counting/countDays.ts'
import { readFiguresFilters } from '../../../collector/analytics/figuresRequest.ts'
import { conditionsOf } from '../../../collector/analytics/goals.ts'
import { type RolledDays, readRollup } from '../../../collector/analytics/rollup/rolledDays.ts'
import {
  sessionBreakdownsQuery,
  sessionPagesQuery,
} from '../../../collector/analytics/sessionsQuery.ts'
import type { Query } from '../../../collector/platform/clickhouse/client.ts'
import { timeZone } from '../../../collector/platform/timeZone.ts'
import { openEvents, organizationId } from '../events/harness.ts'
import { visits } from './oddVisits.ts'
import { seededNumbers } from './seededNumbers.ts'
import { readerOf } from './sharedReader.ts'

/** Goals in the rows of counted sessions, compared with a read of every event. */
let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const dayMs = 86_400_000

const goalOf = (filter: string, property?: string) =>
  conditionsOf({ name: filter, filter, ...(property && { value: { property, currency: 'EUR' } }) })
const goals = [
  goalOf('event_type:in:click|video'),
  goalOf('event_data.name:eq:signup', 'event_data.properties.price'),
  goalOf('event_type:ne:click,page_path:eq:/', 'event_data.properties.price'),
  goalOf('event_data.properties.plan:eq:a\\b,"c"'),
]

test.each(['UTC', 'America/Los_Angeles', 'Asia/Kathmandu'])(
  'rows of sessions of %s reach the goals that their events reach',
  async (name) => {
    const { live } = events.clickhouse
    const zone = timeZone(name)!
    const below = seededNumbers(8)
    const projectId = randomUUID()
    const from = Date.parse('2026-10-29')
    await events.insert(
      visits(
        projectId,
        below,
        Array.from({ length: 40 }, () => randomUUID()),
        from,
      ),
    )
    const endMs = zone.instantOf(from + 4.4 * dayMs)
    await countDays(live, projectId, { min: { day: 1, hours: 1 }, nowMs: endMs, zone })
    const scope = { organizationId, projectId, pixelId: null, campaignId: null }
    const window = { startMs: zone.instantOf(from + dayMs), endMs }
    for (const bots of ['included', 'excluded'] as const)
      for (const filter of [undefined, 'source:eq:Direct', 'country:eq:DE,exit_page:ne:/docs']) {
        const selected = readFiguresFilters(filter)
        const plan = { source: 'pixel' as const, ...selected, bots, scope, window, zone }
        const { rows } = await readRollup(readerOf(live), plan)
        expect(rows!.runIds.length).toBeGreaterThan(8)
        const same = async (queryOf: (rows: RolledDays | null) => Query) => {
          const [counted, scanned] = await Promise.all(
            [rows, null].map((from) => live.rows(queryOf(from))),
          )
          expect(scanned!.length).toBeGreaterThan(0)
          expect(counted, filter).toEqual(scanned)
        }
        await same((rows) => conversionsQuery(plan, goals, { rows }))
        for (const goal of goals) {
          const asked = { limit: 1_000, goal }
          await same((rows) =>
            sessionBreakdownsQuery(plan, ['source', 'country'], { ...asked, rows }),
          )
          await same((rows) => sessionPagesQuery(plan, 'entry_page', { ...asked, rows }))
        }
      }
  },
  1_800_000,
)
