import { Check } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { sampleIdentity } from '../../../../collector/api/access/sandboxTenant.ts'
import { validateEvent } from '../../../../collector/ingest/normalize/validateEvent.ts'
import { sampleCampaigns } from '../../../../collector/ops/sandbox/sampleCampaigns.ts'
import {
  sampleCampaignRows,
  sampleLinks,
  sampleProfiles,
  sampleRows,
} from '../../../../collector/ops/sandbox/sampleDatabase.ts'
import { type EventType, eventDataSchemas, eventTypes } from '../../../../schemas/events/index.ts'
import { eventColumns } from '../../../../schemas/fields.ts'

const dayMs = 86_400_000
const monday = new Date('2026-03-02T00:00:00.000Z')

interface SampleRow {
  event_id: string
  event_type: EventType
  ts_millis: number
  cookie_id: string
  project_id: string
  is_bot: boolean
  event_data: Record<string, unknown>
  campaign_id?: string
}

const parse = (rows: string[]) => rows.map((row) => JSON.parse(row) as SampleRow)
const month = Array.from({ length: 31 }, (_, day) =>
  sampleRows(new Date(monday.getTime() + day * dayMs)),
)
const all = parse(month.flat())
const share = (test: (row: SampleRow) => boolean) => all.filter(test).length / all.length

test('the sample’s people are the same ones every time', () => {
  expect(sampleProfiles()).toEqual(sampleProfiles())
  const hems = sampleProfiles().map((row) => JSON.parse(row).hem)
  expect(sampleLinks(monday).map((row) => JSON.parse(row).hem)).toEqual(hems)
})

describe('sample rows', () => {
  test('the same day gives the same bytes', () => {
    expect(sampleRows(new Date(monday))).toEqual(month[0])
    expect(month[1]).not.toEqual(month[0])
  })

  test('a day has about 300 events, all of them on that day, in order', () => {
    for (const [day, rows] of month.entries()) {
      expect(rows.length, `day ${day}`).toBeGreaterThan(200)
      expect(rows.length, `day ${day}`).toBeLessThan(420)
      const times = parse(rows).map((row) => row.ts_millis)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(times[0]).toBeGreaterThanOrEqual(monday.getTime() + day * dayMs)
      expect(times.at(-1)).toBeLessThan(monday.getTime() + (day + 1) * dayMs)
    }
    expect(all.length / month.length).toBeGreaterThan(270)
    expect(all.length / month.length).toBeLessThan(330)
  })

  test('page views are 50 to 60 percent, every type is there on most days', () => {
    expect(share((row) => row.event_type === 'page_view')).toBeGreaterThan(0.5)
    expect(share((row) => row.event_type === 'page_view')).toBeLessThan(0.6)
    for (const type of eventTypes) {
      const days = month.filter((rows) => parse(rows).some((row) => row.event_type === type))
      expect(days.length, type).toBeGreaterThan(month.length / 2)
    }
  })

  test('every event is one the collector would take', () => {
    for (const row of all) {
      const { event_type, event_data, ts_millis } = row
      expect(validateEvent({ ...row }), JSON.stringify(event_data)).toHaveProperty(
        'sentMillis',
        ts_millis,
      )
      expect(Check(eventDataSchemas[event_type], event_data)).toBe(true)
    }
  })

  test('event ids are unique', () => {
    expect(new Set(all.map((row) => row.event_id)).size).toBe(all.length)
  })

  test('a row has every stored column of the field table that has no default', () => {
    const stored = eventColumns.filter(
      ({ alias, materialized, columnType }) =>
        !alias && !materialized && !/DEFAULT|^Nullable/.test(columnType),
    )
    for (const { name } of stored) expect(all[0]).toHaveProperty(name)
    expect(all[0]).toMatchObject({
      organization_id: sampleIdentity.organizationId,
      project_id: sampleIdentity.projectId,
      pixel_id: sampleIdentity.pixelId,
      spool_id: expect.any(String),
      seq: expect.any(Number),
    })
  })

  test('visitors come back, see several pages, sleep at night; a few are bots, a third is known', () => {
    const visitors = new Set(all.map((row) => row.cookie_id))
    expect(visitors.size).toBeGreaterThan(100)
    const today = parse(month[0]!)
    const pagesOf = countBy(today.filter(isPageView))
    expect([...pagesOf.values()].filter((pages) => pages > 2).length).toBeGreaterThan(8)

    expect(share((row) => row.is_bot)).toBeGreaterThan(0.02)
    expect(share((row) => row.is_bot)).toBeLessThan(0.12)

    const hour = (row: SampleRow) => new Date(row.ts_millis).getUTCHours()
    expect(share((row) => hour(row) < 6)).toBeLessThan(0.08)
    expect(share((row) => hour(row) >= 18)).toBeGreaterThan(0.25)

    const known = new Set(sampleLinks(monday).map((link) => JSON.parse(link).cookie_id))
    expect(share((row) => known.has(row.cookie_id))).toBeGreaterThan(0.15)
    expect(share((row) => known.has(row.cookie_id))).toBeLessThan(0.45)
  })
})

test('the sample’s campaigns have impressions and clicks every day, the same whenever it is asked', () => {
  const days = [0, 1, 2].map((day) => new Date(monday.getTime() + day * dayMs))
  const rows = days.flatMap((day) => parse(sampleCampaignRows(day)))
  expect(rows).toEqual(days.flatMap((day) => parse(sampleCampaignRows(day))))
  expect(rows.length / 3).toBeGreaterThan(50)
  expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(rows.length)
  expect(new Set(rows.map(({ event_type }) => event_type))).toEqual(
    new Set(['impression', 'click']),
  )
  expect(new Set(rows.map((row) => row.campaign_id))).toEqual(
    new Set(sampleCampaigns.map(({ campaignId }) => campaignId)),
  )
  for (const row of rows) expect(row).toMatchObject({ source: 'svcdsp', spend: expect.any(Number) })
})

const isPageView = (row: SampleRow) => row.event_type === 'page_view'

function countBy(rows: SampleRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { cookie_id } of rows) counts.set(cookie_id, (counts.get(cookie_id) ?? 0) + 1)
  return counts
}
