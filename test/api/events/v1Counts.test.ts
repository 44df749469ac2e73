import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type EarlierEvents,
  earlierRows,
  end,
  hourMs,
  openEarlierEvents,
  window,
} from './earlierHarness.ts'
import { type Events, openEvents } from './harness.ts'

let events: EarlierEvents
beforeAll(async () => {
  events = await openEarlierEvents()
})
afterAll(() => events.close())

describe('GET /api/v1/event_counts', () => {
  const counts = async (query: Record<string, string>) =>
    (await events.inWindow('/api/v1/event_counts', { ...events.scope, ...query })).body

  test('counts the events that the events route returns', async () => {
    expect(await counts({})).toEqual({
      counts: [{ count: 40 }],
      total: 40,
      meta: {
        start_ms: end - 25 * hourMs,
        end_ms: end,
        has_more: false,
        request_id: expect.any(String),
      },
    })
    expect((await counts({ filter: 'event_type:eq:click' })).total).toBe(10)
    expect((await counts({ filter: 'resolved:eq:true' })).total).toBe(0)
  })

  test('distinct counts the unique values', async () => {
    expect((await counts({ distinct: 'cookie_id' })).counts).toEqual([{ count: 40, distinct: 3 }])
  })

  test('group_by counts each group', async () => {
    expect((await counts({ group_by: 'event_type' })).counts).toEqual([
      { event_type: 'page_view', count: 30 },
      { event_type: 'click', count: 10 },
    ])
  })

  test('any length of window will do', async () => {
    expect((await counts({ start_ms: '0' })).total).toBe(40)
  })

  test.each([
    [{ limit: '5' }, 'limit'],
    [{ offset: '5' }, 'offset'],
    [{ select: 'event_id' }, 'select'],
    [{ distinct: 'nothing' }, 'distinct'],
  ])('400 for %j', async (query, parameter) => {
    expect(await counts(query)).toMatchObject({ error: 'invalid_parameter', parameter })
  })

  test('400 without a window, or a scope', async () => {
    expect((await events.ask('/api/v1/event_counts', events.scope)).body.parameter).toBe('start_ms')
    expect((await events.ask('/api/v1/event_counts', window)).body.parameter).toBe(
      'organization_id',
    )
  })
})

describe('GET /api/v1/event_counts_index', () => {
  const index = async (query: Record<string, string>) =>
    (await events.inWindow('/api/v1/event_counts_index', { ...events.scope, ...query })).body

  test('says which hours have how many events of each type, and leaves empty ones out', async () => {
    const hours = await index({})
    expect(hours).toMatchObject({ interval: 'hour', total: 40 })
    // Two events an hour, one to two seconds before it ends and half an hour earlier; twenty hours of twenty-five.
    expect(hours.index).toHaveLength(20)
    expect(hours.index[0]).toEqual({
      start: new Date(end - 20 * hourMs).toISOString().replace('.000', ''),
      count: 2,
      event_types: { page_view: 2 },
    })
    expect(hours.index.at(-1)).toMatchObject({ count: 2, event_types: { click: 1, page_view: 1 } })
    const starts = hours.index.map(({ start }: { start: string }) => start)
    expect(starts).toEqual(starts.toSorted())
  })

  test('days add up to the same', async () => {
    const days = await index({ interval: 'day' })
    const sum = days.index.reduce((all: number, { count }: { count: number }) => all + count, 0)
    expect([sum, days.total]).toEqual([40, 40])
    expect(days.index[0].start).toBe(
      new Date(Number(events.stored.at(-1)!.ts_millis)).toISOString().slice(0, 10),
    )
  })

  test('takes a filter', async () => {
    expect((await index({ filter: 'event_type:eq:click' })).total).toBe(10)
  })

  test.each([
    [{ interval: 'week' }, 'interval'],
    [{ start_ms: '0' }, 'interval'],
    [{ distinct: 'cookie_id' }, 'distinct'],
  ])('400 for %j', async (query, parameter) => {
    expect(await index(query)).toMatchObject({ error: 'invalid_parameter', parameter })
  })
})

describe('GET /api/v1/events/scan_estimate', () => {
  let alone: Events
  beforeAll(async () => {
    // An estimate counts complete granules, so other files must store nothing here.
    alone = await openEvents({ isAlone: true })
    await alone.insert(earlierRows(events))
  })
  afterAll(() => alone.close())

  const ask = async (
    path: string,
    query: Record<string, string>,
    organization = events.organizationId,
  ) => {
    const answer = await alone.app.inject({
      url: `/api/v1/${path}?${new URLSearchParams({ ...window, ...query })}`,
      headers: { 'x-organization': organization },
    })
    return answer.json()
  }
  const estimate = async (
    query: Record<string, string> = {},
    scope: Record<string, string> = events.scope,
  ) => (await ask('events/scan_estimate', { ...scope, ...query })).estimate

  test('tells rows and bytes of the columns that are needed', async () => {
    const [few, many] = [await estimate({ select: 'event_id' }), await estimate()]
    // One granule holds everything there is.
    expect(few).toMatchObject({ rows: 70, parts: 1, marks: 1 })
    expect(many.rows).toBe(70)
    // Five columns (organization, project, time, source, id) of twenty-nine.
    expect(few.bytes).toBeGreaterThan(1_000)
    expect(few.bytes).toBeLessThan(many.bytes / 4)
  })

  test('is nothing for a window without events', async () => {
    expect(await estimate({ start_ms: '0', end_ms: '1' })).toEqual({
      rows: 0,
      bytes: 0,
      parts: 0,
      marks: 0,
    })
  })

  test('of an organization passes over what others have in the same time', async () => {
    const many = 40_000
    await alone.clickhouse.live.command({
      sql: `INSERT INTO events (organization_id, project_id, event_id, ts_millis, spool_id)
            SELECT {organization:UUID}, {project:UUID}, generateUUIDv4(number), {end:Int64} - 1 - number, generateUUIDv4()
            FROM numbers({many:UInt32})`,
      params: {
        organization: events.foreign.organizationId,
        project: events.foreign.projectId,
        end,
        many,
      },
    })
    const { rows } = await estimate({}, { organization_id: events.organizationId })
    expect(rows).toBeGreaterThanOrEqual(60)
    expect(rows).toBeLessThan(many / 2)
    const { organizationId } = events.foreign
    const counted = await ask('event_counts', { organization_id: organizationId }, organizationId)
    expect(counted.total).toBe(many + 10)
  })

  test('checks the request like the events route', async () => {
    const { status, body } = await events.inWindow('/api/v1/events/scan_estimate', {})
    expect([status, body.parameter]).toEqual([400, 'organization_id'])
    const limited = await events.inWindow('/api/v1/events/scan_estimate', { limit: '0' })
    expect([limited.status, limited.body.parameter]).toEqual([400, 'limit'])
  })
})
