import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventOf,
  linkOf,
  openEvents,
  organizationId,
  pixelId,
  projectId,
  type Row,
} from '../harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const noon = Date.UTC(2026, 4, 10, 12)
const dayMs = 86_400_000
const otherPixel = randomUUID()
const otherProject = randomUUID()
const [ada, ben] = ['a'.repeat(64), 'b'.repeat(64)]
const [adasPhone, adasDesk, bens, stranger] = Array.from({ length: 4 }, () => randomUUID())

const event = (cookie_id: unknown, daysAgo: number, more: Row = {}) =>
  eventOf(noon, daysAgo * dayMs, { cookie_id, ...more })

beforeAll(async () => {
  events = await openEvents()
  await events.insert([
    // Today: Ada by two browsers, three events; a stranger, one.
    event(adasPhone, 0),
    event(adasPhone, 0),
    event(adasDesk, 0),
    event(stranger, 0),
    // Yesterday, another pixel: Ada and Ben, and the stranger twice.
    event(adasPhone, 1, { pixel_id: otherPixel }),
    event(bens, 1, { pixel_id: otherPixel }),
    event(stranger, 1, { pixel_id: otherPixel }),
    event(stranger, 1, { pixel_id: otherPixel }),
    // Another project.
    event(bens, 1, { project_id: otherProject, pixel_id: randomUUID() }),
    // Not captured by a pixel, not of this organization, not of these days.
    event(bens, 0, { source: 'svcdsp', campaign_id: 'x' }),
    event(bens, 0, { organization_id: randomUUID() }),
    event(bens, 31),
  ])
  await events.know({
    links: [linkOf(adasPhone, ada), linkOf(adasDesk, ada), linkOf(bens, ben)],
  })
})
afterAll(() => events.close())

const window = { start_ms: String(noon - 30 * dayMs), end_ms: String(noon + 1) }
const get = (query: Record<string, string>, headers = {}) =>
  events.app.inject({ url: `/api/v1/resolution/statistics?${new URLSearchParams(query)}`, headers })
async function read(query: Record<string, string> = {}) {
  const answer = await get({ ...window, ...query })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json() as { statistics: Row[]; total: Row; meta: Row }
}
const figures = (...[all, resolved, visitors, resolvedVisitors]: number[]) => ({
  events: all,
  resolved_events: resolved,
  visitors,
  resolved_visitors: resolvedVisitors,
  people: null,
  event_rate: resolved! / all!,
  visitor_rate: resolvedVisitors! / visitors!,
})
const today = '2026-05-10'
const yesterday = '2026-05-09'

test('the total is of all projects, and visitors count once', async () => {
  expect(await read()).toEqual({
    statistics: [],
    total: figures(9, 6, 4, 3),
    meta: {
      start_ms: Number(window.start_ms),
      end_ms: Number(window.end_ms),
      has_more: false,
      request_id: expect.any(String),
    },
  })
})

describe('groups', () => {
  test('are days, the latest first, while the total stays what it was', async () => {
    const { statistics, total } = await read({ group_by: 'day' })
    expect(statistics).toEqual([
      { day: today, ...figures(4, 3, 3, 2) },
      { day: yesterday, ...figures(5, 3, 3, 2) },
    ])
    expect(total).toEqual(figures(9, 6, 4, 3))
  })

  test('are projects', async () => {
    const { statistics } = await read({ group_by: 'project' })
    const expected = [
      { project_id: projectId, ...figures(8, 5, 4, 3) },
      { project_id: otherProject, ...figures(1, 1, 1, 1) },
    ]
    expect(statistics).toHaveLength(2)
    expect(statistics).toEqual(expect.arrayContaining(expected))
  })

  test('are all of these at once', async () => {
    const { statistics } = await read({ group_by: 'pixel,day,project', project_id: projectId })
    expect(statistics).toEqual(
      expect.arrayContaining([
        { day: today, project_id: projectId, pixel_id: pixelId, ...figures(4, 3, 3, 2) },
        { day: yesterday, project_id: projectId, pixel_id: otherPixel, ...figures(4, 2, 3, 2) },
      ]),
    )
    expect(statistics).toHaveLength(2)
  })
})

describe('the scope', () => {
  test('is a project, or a pixel', async () => {
    expect((await read({ project_id: otherProject })).total).toEqual(figures(1, 1, 1, 1))
    expect((await read({ pixel_id: otherPixel })).total).toEqual(figures(4, 2, 3, 2))
  })

  test('without events has counts of nothing, and no rate', async () => {
    const { statistics, total } = await read({ project_id: randomUUID(), group_by: 'day' })
    expect(statistics).toEqual([])
    expect(total).toEqual({ ...figures(0, 0, 0, 0), event_rate: null, visitor_rate: null })
  })
})

test('the window is thirty days to now unless it is given, in milliseconds or as times', async () => {
  const { meta } = (await get({})).json()
  expect(meta.end_ms - meta.start_ms).toBe(30 * dayMs)
  expect(Math.abs(meta.end_ms - Date.now())).toBeLessThan(60_000)
  const { total } = (await get({ start_time: '2026-05-10', end_time: '2026-05-11' })).json()
  expect(total.events).toBe(4)
})

test.each<[string, Record<string, string>]>([
  ['start_ms', { start_ms: '0', end_ms: String(366 * dayMs + 1) }],
  ['start_time', { start_time: '2024-01-01', end_time: '2026-01-01' }],
  ['start_ms', { start_ms: 'x' }],
  ['group_by', { group_by: 'hem' }],
  ['group_by', { group_by: 'day,day' }],
  ['project_id', { project_id: 'x' }],
  ['hem', { hem: ada }],
  ['filter', { filter: 'hem:eq:x' }],
])('%s is named where it is wrong: %j', async (parameter, query) => {
  const answer = await get(query)
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
})

test('nothing is billed', async () => {
  const { rows } = await events.postgres.query('SELECT * FROM ledger WHERE organization_id = $1', [
    organizationId,
  ])
  expect(rows).toEqual([])
})
