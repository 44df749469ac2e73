import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf, openEvents, projectId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
// Noon, so that hours and days do not depend on when the test runs.
const noon = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 43_200_000
const window = { start_ms: String(noon - 7_200_000), end_ms: String(noon) }
const cookies = [randomUUID(), randomUUID(), randomUUID()]
const otherProject = randomUUID()

const stored = Array.from({ length: 40 }, (_, index) =>
  eventOf(noon, 1 + index * 120_000, {
    event_type: index % 4 === 0 ? 'click' : 'page_view',
    cookie_id: cookies[index % 3],
    page_url: `https://shop.example/${index % 2}`,
    project_id: index < 30 ? projectId : otherProject,
    campaign_id: index < 10 ? 'c' : null,
  }),
)

beforeAll(async () => {
  events = await openEvents()
  await events.insert(stored)
  await events.insert([eventOf(noon, 60_000, { organization_id: randomUUID() })])
})
afterAll(() => events.close())

const count = async (query: Record<string, string> = {}) =>
  (await events.get('events/web_event/counts', { ...window, ...query })).json()
const rows = async (query: Record<string, string> = {}): Promise<Row[]> =>
  (await events.page({ ...window, limit: '10000', ...query })).rows

describe('counts', () => {
  test('without groups are one number', async () => {
    expect(await count()).toEqual({
      counts: [{ count: 40 }],
      total: 40,
      meta: {
        start_ms: noon - 7_200_000,
        end_ms: noon,
        has_more: false,
        request_id: expect.any(String),
      },
    })
  })

  test.each<Record<string, string>>([
    {},
    { project_id: projectId },
    { source: 'svcdsp' },
    { filter: 'event_type:eq:click,event_data.x:ne:1' },
    { filter: 'campaign_id:ne:c' },
    { start_ms: String(noon - 600_000) },
  ])('are as many as there are rows: %j', async (query) => {
    expect((await count(query)).total).toBe((await rows(query)).length)
    expect((await count({ ...query, group_by: 'event_type' })).total).toBe(
      (await rows(query)).length,
    )
  })

  test('by event type, largest first', async () => {
    expect((await count({ group_by: 'event_type' })).counts).toEqual([
      { event_type: 'page_view', count: 30 },
      { event_type: 'click', count: 10 },
    ])
  })

  test('by hour, day and url have these as keys', async () => {
    const iso = (ms: number) => new Date(ms).toISOString()
    expect((await count({ group_by: 'hour' })).counts).toEqual([
      { hour: iso(noon - 7_200_000).replace('.000', ''), count: 10 },
      { hour: iso(noon - 3_600_000).replace('.000', ''), count: 30 },
    ])
    expect((await count({ group_by: 'day,url' })).counts).toEqual([
      { day: iso(noon).slice(0, 10), url: 'https://shop.example/0', count: 20 },
      { day: iso(noon).slice(0, 10), url: 'https://shop.example/1', count: 20 },
    ])
  })

  test('by a field that may be null', async () => {
    expect((await count({ group_by: 'campaign_id' })).counts).toEqual([
      { campaign_id: null, count: 30 },
      { campaign_id: 'c', count: 10 },
    ])
  })

  test.each(['cookie_id', 'campaign_id', 'cookie_id,page_url', 'timestamp'])(
    'of distinct %s are the rows that the tier route returns with it',
    async (distinct) => {
      expect((await count({ distinct })).counts).toEqual([
        { count: 40, distinct: (await rows({ distinct })).length },
      ])
    },
  )

  test('count what is distinct in each group', async () => {
    expect((await count({ group_by: 'event_type', distinct: 'cookie_id' })).counts).toEqual([
      { event_type: 'page_view', count: 30, distinct: 3 },
      { event_type: 'click', count: 10, distinct: 3 },
    ])
  })

  test('are limited in groups, not in the total', async () => {
    const { counts, total, meta } = await count({ group_by: 'hour,url,event_type', limit: '4' })
    expect(counts).toHaveLength(4)
    expect(total).toBe(40)
    expect(meta.has_more).toBe(true)
  })

  test('of nothing are nothing', async () => {
    expect(await count({ filter: 'event_type:eq:video' })).toMatchObject({
      counts: [{ count: 0 }],
      total: 0,
    })
    expect(await count({ filter: 'event_type:eq:video', group_by: 'day' })).toMatchObject({
      counts: [],
      total: 0,
    })
  })

  test.each([
    'event_type',
    'pixel_id',
    'page_path',
    'resolved',
    'is_bot',
    'device_type',
    'campaign_id',
    'os',
  ])('by %s add up to the total', async (group_by) => {
    const { counts, total } = await count({ group_by })
    expect(counts.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(total)
    expect(Object.keys(counts[0])).toEqual([group_by, 'count'])
  })
})
