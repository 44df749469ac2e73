import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fields, fieldsAt } from '../../../schemas/fields.ts'
import type { Row } from '../../harness/api.ts'
import { openTenants } from '../../harness/tenants.ts'
import {
  cookies,
  type EarlierEvents,
  end,
  hourMs,
  storeEarlierEvents,
  window,
} from './earlierHarness.ts'

let events: EarlierEvents
beforeAll(async () => {
  events = await storeEarlierEvents(await openTenants({ hasSample: true }))
})
afterAll(() => events.close())

const ids = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)

describe('GET /api/v1/events', () => {
  test('returns the newest 100 events, every field of them, and says what it did', async () => {
    const { rows, meta } = await events.page(events.scope)
    expect(ids(rows)).toEqual(ids(events.stored))
    expect(Object.keys(rows[0]!)).toEqual(
      fieldsAt('resolution_full_profile').map(({ name }) => name),
    )
    expect(meta).toEqual({
      meter: 'events',
      records: 40,
      charged: 40,
      offset: 0,
      limit: 100,
      has_more: false,
      start_ms: end - 25 * hourMs,
      end_ms: end,
      request_id: expect.any(String),
    })
  })

  test('pages by offset and limit', async () => {
    const pages = []
    for (const offset of [0, 15, 30, 45]) {
      pages.push(
        await events.page({
          ...events.scope,
          offset: String(offset),
          limit: '15',
          select: 'event_id',
        }),
      )
    }
    expect(pages.flatMap(({ rows }) => ids(rows))).toEqual(ids(events.stored))
    expect(pages.map(({ meta }) => meta.has_more)).toEqual([true, true, false, false])
    expect(pages.map(({ meta }) => meta.records)).toEqual([15, 15, 10, 0])
  })

  test('select, filter and distinct', async () => {
    const { rows } = await events.page({
      ...events.scope,
      select: 'cookie_id,event_type',
      filter: 'event_type:eq:click,is_bot:eq:false',
      distinct: 'cookie_id',
    })
    expect(rows).toHaveLength(3)
    for (const row of rows) expect(Object.keys(row)).toEqual(['cookie_id', 'event_type'])
    expect(new Set(rows.map(({ cookie_id }) => cookie_id))).toEqual(new Set(cookies))
  })

  test('the end of the window does not belong to it, its start does', async () => {
    const at = (index: number) => String(events.stored[index]!.ts_millis)
    const { rows } = await events.page({ ...events.scope, start_ms: at(10), end_ms: at(4) })
    expect(ids(rows)).toEqual(ids(events.stored.slice(5, 11)))
  })

  test('takes start_time and end_time instead', async () => {
    const times = {
      start_time: new Date(end - hourMs).toISOString(),
      end_time: new Date(end).toISOString(),
    }
    const answer = await events.ask('/api/v1/events', { ...events.scope, ...times })
    expect(answer.body.meta).toMatchObject({ start_ms: end - hourMs, end_ms: end, records: 2 })
  })

  test.each([
    [{}, 'organization_id', 'pixel_id, project_id and organization_id'],
    [{ project_id: 'mine' }, 'project_id', 'must be a UUID'],
    [{ organization_id: '1' }, 'organization_id', 'must be a UUID'],
    [{ offset: '-1' }, 'offset', 'from 0'],
    [{ offset: '1.5' }, 'offset', 'from 0'],
    [{ limit: '0' }, 'limit', 'from 1 to 1000'],
    [{ limit: '1001' }, 'limit', 'from 1 to 1000'],
    [{ start_ms: String(end - 25 * hourMs - 1) }, 'end_ms', '25 hours'],
    [{ start_ms: '' }, 'start_ms', 'milliseconds'],
    [{ start_time: '2026-01-01', end_time: '2026-01-02' }, 'start_time', 'cannot be combined'],
    [{ end_time: '2026-01-02' }, 'end_time', 'cannot be combined'],
    [{ start_ms: String(end + 1) }, 'start_ms', 'must end after it starts'],
    [{ cursor: 'x' }, 'cursor', 'no such parameter'],
    [{ group_by: 'day' }, 'group_by', 'no such parameter'],
    [{ select: 'nothing' }, 'select', 'nothing'],
    [{ filter: 'resolved:is:true' }, 'filter', 'operator'],
    [{ distinct: 'nothing' }, 'distinct', 'nothing'],
    [{ source: 'web' }, 'source', 'must be "pixel" or "svcdsp"'],
  ])('400 for %j names %s', async (query, parameter, message) => {
    const isScope = parameter.endsWith('_id')
    const answer = await events.inWindow('/api/v1/events', {
      ...(isScope ? {} : events.scope),
      ...query,
    })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      error: 'invalid_parameter',
      parameter,
      message: expect.stringContaining(message),
    })
  })

  test.each([
    [{}, 'start_ms'],
    [{ start_ms: String(end - hourMs) }, 'end_ms'],
    [{ end_ms: String(end) }, 'start_ms'],
    [{ start_time: '2026-01-01' }, 'end_time'],
    [{ end_time: '2026-01-01' }, 'start_time'],
  ])('400 for a window of %j: %s is missing', async (query, parameter) => {
    const { status, body } = await events.ask('/api/v1/events', { ...events.scope, ...query })
    expect([status, body.parameter, body.message]).toEqual([
      400,
      parameter,
      expect.stringContaining('is required'),
    ])
  })

  test('HEAD reads nothing', async () => {
    const query = new URLSearchParams({ ...window, ...events.scope })
    const answer = await fetch(`${events.service.url}/api/v1/events?${query}`, {
      method: 'HEAD',
      headers: events.keys.organization,
    })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(answer.headers.get('x-footfall-charged')).toBeNull()
  })
})

test('GET /api/v1/events_schema lists name, type and nullable of every field', async () => {
  const { body } = await events.ask('/api/v1/events_schema')
  expect(body.fields.map(({ name }: Row) => name)).toEqual(fields.map(({ name }) => name))
  expect(body.fields[0]).toMatchObject({
    name: 'event_id',
    type: 'Utf8',
    data_type: 'Utf8',
    nullable: false,
  })
  expect(
    (await events.ask('/api/v1/events_schema', { project_id: events.foreign.projectId })).status,
  ).toBe(404)
  expect((await events.ask('/api/v1/events_schema', { limit: '1' })).status).toBe(400)
})

test('a test key reads the sample, and is never charged', async () => {
  const { keys, organizationId } = events
  const { status, body, headers } = await events.ask(
    '/api/v1/events',
    { ...window, organization_id: organizationId },
    keys.test,
  )
  expect(status).toBe(200)
  expect(headers.get('x-svc-mode')).toBe('test')
  expect(body.meta).toMatchObject({ records: 100, charged: 0 })
})

test('only the events route charges', async () => {
  const recordsCharged = async () => {
    const { rows } = await events.postgres.query<{ records: string }>(
      'SELECT coalesce(sum(records), 0) AS records FROM ledger WHERE organization_id = $1',
      [events.organizationId],
    )
    return Number(rows[0]!.records)
  }
  const before = await recordsCharged()
  for (const path of [
    'event_counts',
    'event_counts_index',
    'events/scan_estimate',
    'events_schema',
  ]) {
    const query = path === 'events_schema' ? {} : { ...window, ...events.scope }
    expect((await events.ask(`/api/v1/${path}`, query)).status).toBe(200)
  }
  expect((await events.page({ ...events.scope, start_ms: '0', end_ms: '1' })).meta.charged).toBe(0)
  expect(await recordsCharged()).toBe(before)
  await events.page({ ...events.scope, limit: '7' })
  expect(await recordsCharged()).toBe(before + 7)
})
