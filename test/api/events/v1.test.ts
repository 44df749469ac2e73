import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fields } from '../../../schemas/fields.ts'
import type { Row } from '../../harness/api.ts'
import { openTenants, type Tenants } from '../../harness/tenants.ts'
import { eventOf } from './harness.ts'

let tenants: Tenants
const hourMs = 3_600_000
// An hour's beginning, so that hours and days do not depend on when the test runs.
const end = Math.floor(Date.now() / hourMs) * hourMs
const window = { start_ms: String(end - 25 * hourMs), end_ms: String(end) }
const cookies = [randomUUID(), randomUUID(), randomUUID()]
const inactivePixelId = randomUUID()
const deletedProjectId = randomUUID()

/** Forty events of the first project, ten of each other. */
let stored: { first: Row[]; second: Row[]; deleted: Row[] }

beforeAll(async () => {
  tenants = await openTenants()
  const { organizationId, first, second, foreign } = tenants
  const many = (count: number, owner: Row) =>
    Array.from({ length: count }, (_, index) =>
      eventOf(end, 1 + index * 1_800_000, {
        ...owner,
        organization_id: owner.organization_id ?? organizationId,
        event_type: index % 4 === 0 ? 'click' : 'page_view',
        cookie_id: cookies[index % 3],
      }),
    )
  stored = {
    first: many(40, { project_id: first.projectId, pixel_id: first.pixelId }),
    second: many(10, { project_id: second.projectId, pixel_id: second.pixelId }),
    deleted: many(10, { project_id: deletedProjectId, pixel_id: randomUUID() }),
  }
  const others = many(10, {
    organization_id: foreign.organizationId,
    project_id: foreign.projectId,
    pixel_id: foreign.pixelId,
  })
  await tenants.insert([...stored.first, ...stored.second, ...stored.deleted, ...others])
  await tenants.postgres.query(
    `INSERT INTO pixels (pixel_id, project_id, name, active) VALUES ($1, $2, 'off', false)`,
    [inactivePixelId, first.projectId],
  )
})
afterAll(() => tenants.close())

const scope = () => ({ project_id: tenants.first.projectId })
const page = async (query: Record<string, string>, key?: Record<string, string>) => {
  const { status, body } = await tenants.ask('/api/v1/events', { ...window, ...query }, key)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as { rows: Row[]; meta: Row }
}
const ids = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)

describe('GET /api/v1/events', () => {
  test('returns the newest 100 events, every field of them, and says what it did', async () => {
    const { rows, meta } = await page(scope())
    expect(ids(rows)).toEqual(ids(stored.first))
    expect(Object.keys(rows[0]!)).toEqual(fields.map(({ name }) => name))
    expect(meta).toEqual({
      ...{ meter: 'events', records: 40, charged: 40, offset: 0, limit: 100, has_more: false },
      ...{ start_ms: end - 25 * hourMs, end_ms: end, request_id: expect.any(String) },
    })
  })

  test('pages by offset and limit', async () => {
    const pages = []
    for (const offset of [0, 15, 30, 45]) {
      pages.push(await page({ ...scope(), offset: String(offset), limit: '15', select: 'event_id' }))
    }
    expect(pages.flatMap(({ rows }) => ids(rows))).toEqual(ids(stored.first))
    expect(pages.map(({ meta }) => meta.has_more)).toEqual([true, true, false, false])
    expect(pages.map(({ meta }) => meta.records)).toEqual([15, 15, 10, 0])
  })

  test('select, filter and distinct', async () => {
    const { rows } = await page({
      ...scope(),
      select: 'cookie_id,event_type',
      filter: 'event_type:eq:click,is_bot:eq:false',
      distinct: 'cookie_id',
    })
    expect(rows).toHaveLength(3)
    for (const row of rows) expect(Object.keys(row)).toEqual(['cookie_id', 'event_type'])
    expect(new Set(rows.map(({ cookie_id }) => cookie_id))).toEqual(new Set(cookies))
  })

  test('the end of the window does not belong to it, its start does', async () => {
    const at = (index: number) => String(stored.first[index]!.ts_millis)
    const { rows } = await page({ ...scope(), start_ms: at(10), end_ms: at(4) })
    expect(ids(rows)).toEqual(ids(stored.first.slice(5, 11)))
  })

  test('takes start_time and end_time instead', async () => {
    const times = {
      start_time: new Date(end - hourMs).toISOString(),
      end_time: new Date(end).toISOString(),
    }
    const answer = await tenants.ask('/api/v1/events', { ...scope(), ...times })
    expect(answer.body.meta).toMatchObject({ start_ms: end - hourMs, end_ms: end, records: 2 })
  })

  test.each([
    [{}, 'organization_id', 'pixel_id, project_id and organization_id'],
    [{ project_id: 'mine' }, 'project_id', 'uuid'],
    [{ organization_id: '1' }, 'organization_id', 'uuid'],
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
    [{ source: 'web' }, 'source', 'pixel or svcdsp'],
  ])('400 for %j names %s', async (query, parameter, message) => {
    const isScope = parameter.endsWith('_id')
    const answer = await tenants.ask('/api/v1/events', { ...window, ...(isScope ? {} : scope()), ...query })
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
    const { status, body } = await tenants.ask('/api/v1/events', { ...scope(), ...query })
    expect([status, body.parameter, body.message]).toEqual([
      400,
      parameter,
      expect.stringContaining('missing'),
    ])
  })

  test('HEAD is not answered', async () => {
    const query = new URLSearchParams({ ...window, ...scope() })
    const answer = await fetch(`${tenants.service.url}/api/v1/events?${query}`, {
      method: 'HEAD',
      headers: tenants.keys.organization,
    })
    expect(answer.status).toBe(404)
  })
})

describe('the scope', () => {
  const owners = async (query: Record<string, string>, key?: Record<string, string>) =>
    new Set((await page({ limit: '1000', ...query }, key)).rows.map(({ project_id }) => project_id))

  test('organization_id reads every project, a deleted one that left its events included', async () => {
    const { organizationId, first, second } = tenants
    const { rows } = await page({ organization_id: organizationId, limit: '1000' })
    expect(rows).toHaveLength(60)
    expect(await owners({ organization_id: organizationId })).toEqual(
      new Set([first.projectId, second.projectId, deletedProjectId]),
    )
  })

  test('of several, pixel_id wins over project_id, which wins over organization_id', async () => {
    const { organizationId, first, second, foreign } = tenants
    const only = async (query: Record<string, string>) => [...(await owners(query))]
    expect(await only({ organization_id: organizationId, project_id: second.projectId })).toEqual([
      second.projectId,
    ])
    expect(await only({ project_id: second.projectId, pixel_id: first.pixelId })).toEqual([first.projectId])
    // What loses is as if it had not been given, whosever it is.
    expect(await only({ organization_id: foreign.organizationId, project_id: first.projectId })).toEqual([
      first.projectId,
    ])
    expect(await only({ project_id: foreign.projectId, pixel_id: first.pixelId })).toEqual([first.projectId])
  })

  test('X-Project-Id says the same as project_id', async () => {
    const key = { ...tenants.keys.organization, 'x-project-id': tenants.second.projectId }
    expect(await owners({ organization_id: tenants.organizationId }, key)).toEqual(
      new Set([tenants.second.projectId]),
    )
  })

  test('what is somebody else’s answers like what does not exist', async () => {
    const { foreign } = tenants
    const nobody = randomUUID()
    for (const [query, error] of [
      [{ organization_id: foreign.organizationId }, 'organization not found'],
      [{ organization_id: nobody }, 'organization not found'],
      [{ project_id: foreign.projectId }, 'project not found'],
      [{ project_id: nobody }, 'project not found'],
      [{ pixel_id: foreign.pixelId }, 'pixel not found'],
      [{ pixel_id: nobody }, 'pixel not found'],
      [{ ...scope(), campaign_id: nobody }, 'campaign not found'],
      [{ ...scope(), campaign_id: 'no uuid' }, 'campaign not found'],
    ] as const) {
      const { status, body } = await tenants.ask('/api/v1/events', { ...window, ...query })
      expect([status, body.error]).toEqual([404, error])
    }
  })

  test('403 for a pixel that is switched off', async () => {
    const { status, body } = await tenants.ask('/api/v1/events', { ...window, pixel_id: inactivePixelId })
    expect([status, body.error]).toEqual([403, 'pixel inactive'])
  })

  test('a project key’s organization-scoped request reads only its project', async () => {
    const { organizationId, second, keys } = tenants
    for (const path of ['/api/v1/events', '/api/v1/event_counts']) {
      const query = { ...window, organization_id: organizationId }
      const { body } = await tenants.ask(path, query, keys.second)
      expect(body.total ?? body.rows.length).toBe(10)
    }
    expect(await owners({ organization_id: organizationId }, keys.second)).toEqual(
      new Set([second.projectId]),
    )
  })

  test('a project key gets 404 for another project and another project’s pixel', async () => {
    const { first, keys } = tenants
    for (const path of ['/api/v1/events', '/api/v1/event_counts']) {
      for (const [query, error] of [
        [{ project_id: first.projectId }, 'project not found'],
        [{ pixel_id: first.pixelId }, 'pixel not found'],
      ] as const) {
        const { status, body } = await tenants.ask(path, { ...window, ...query }, keys.second)
        expect([status, body.error]).toEqual([404, error])
      }
    }
  })
})

describe('GET /api/v1/event_counts', () => {
  const counts = async (query: Record<string, string>) =>
    (await tenants.ask('/api/v1/event_counts', { ...window, ...scope(), ...query })).body

  test('counts the events that the events route returns', async () => {
    expect(await counts({})).toEqual({
      counts: [{ count: 40 }],
      total: 40,
      meta: {
        ...{ start_ms: end - 25 * hourMs, end_ms: end, has_more: false },
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
    expect((await tenants.ask('/api/v1/event_counts', scope())).body.parameter).toBe('start_ms')
    expect((await tenants.ask('/api/v1/event_counts', window)).body.parameter).toBe('organization_id')
  })
})

describe('GET /api/v1/event_counts_index', () => {
  const index = async (query: Record<string, string>) =>
    (await tenants.ask('/api/v1/event_counts_index', { ...window, ...scope(), ...query })).body

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
      new Date(Number(stored.first.at(-1)!.ts_millis)).toISOString().slice(0, 10),
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
  const estimate = async (query: Record<string, string> = {}) =>
    (await tenants.ask('/api/v1/events/scan_estimate', { ...window, ...scope(), ...query })).body.estimate

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
    expect(await estimate({ start_ms: '0', end_ms: '1' })).toEqual({ rows: 0, bytes: 0, parts: 0, marks: 0 })
  })

  test('checks the request like the events route', async () => {
    const { status, body } = await tenants.ask('/api/v1/events/scan_estimate', { ...window, limit: '0' })
    expect([status, body.parameter]).toEqual([400, 'organization_id'])
  })
})

test('GET /api/v1/events_schema lists name, type and nullable of every field', async () => {
  const { body } = await tenants.ask('/api/v1/events_schema')
  expect(body.fields.map(({ name }: Row) => name)).toEqual(fields.map(({ name }) => name))
  expect(body.fields[0]).toMatchObject({ name: 'event_id', type: 'Utf8', data_type: 'Utf8', nullable: false })
  expect((await tenants.ask('/api/v1/events_schema', { project_id: tenants.foreign.projectId })).status).toBe(
    404,
  )
  expect((await tenants.ask('/api/v1/events_schema', { limit: '1' })).status).toBe(400)
})

test('a test key reads the sample, and is never charged', async () => {
  const { keys, organizationId } = tenants
  const { status, body, headers } = await tenants.ask(
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
    const { rows } = await tenants.postgres.query<{ records: string }>(
      'SELECT coalesce(sum(records), 0) AS records FROM ledger',
    )
    return Number(rows[0]!.records)
  }
  const before = await recordsCharged()
  for (const path of ['event_counts', 'event_counts_index', 'events/scan_estimate', 'events_schema']) {
    const query = path === 'events_schema' ? {} : { ...window, ...scope() }
    expect((await tenants.ask(`/api/v1/${path}`, query)).status).toBe(200)
  }
  expect((await page({ ...scope(), start_ms: '0', end_ms: '1' })).meta.charged).toBe(0)
  expect(await recordsCharged()).toBe(before)
  await page({ ...scope(), limit: '7' })
  expect(await recordsCharged()).toBe(before + 7)
})
