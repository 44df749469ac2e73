import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventOf, openEvents, projectId, type Row } from '../events/harness.ts'

/** Web Vitals at the 75th percentile, by page. */
let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const path = '/api/v1/analytics/web-vitals'
const get = async (query: Record<string, string>) => {
  const answer = await events.app.inject({ url: `${path}?${new URLSearchParams(query)}` })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json() as { overall: Row; pages: Row[] }
}

const measured = (
  project_id: string,
  page_path: string,
  name: string,
  value: unknown,
  more: Row = {},
) =>
  eventOf(now, 1_000, {
    project_id,
    page_path,
    event_type: 'custom',
    event_data: JSON.stringify({ name: 'web_vitals', properties: { name, value, rating: 'good' } }),
    ...more,
  })

test('three of four measurements of a page are at most its value', async () => {
  const project_id = randomUUID()
  const lcp = [100, 200, 300, 400, 500]
  await events.insertHits([
    ...lcp.map((value) => measured(project_id, '/', 'LCP', value)),
    measured(project_id, '/', 'CLS', 0.25),
    measured(project_id, '/slow', 'LCP', 9_000),
    measured(project_id, '/slow', 'INP', 'not a number'),
    // Other events and bots count for nothing.
    eventOf(now, 1_000, { project_id, page_path: '/' }),
    measured(project_id, '/', 'LCP', 99_999, { is_bot: true }),
    measured(project_id, '/', 'LCP', 99_999, {
      event_data: JSON.stringify({ name: 'other', properties: { name: 'LCP', value: 99_999 } }),
    }),
  ])
  const { overall, pages } = await get({ project_id })
  expect(pages).toEqual([
    { page_path: '/', lcp: 400, inp: null, cls: 0.25, fcp: null, ttfb: null, samples: 6 },
    { page_path: '/slow', lcp: 9_000, inp: null, cls: null, fcp: null, ttfb: null, samples: 2 },
  ])
  expect(overall).toMatchObject({ cls: 0.25, samples: 8 })
  const only = await get({ project_id, filter: 'page_path:eq:/slow' })
  expect(only.pages.map(({ page_path }) => page_path)).toEqual(['/slow'])
  expect(only.overall).toMatchObject({ lcp: 9_000, samples: 2 })
})

test('without measurements all is null, and a filter that is not free is refused', async () => {
  const { overall, pages } = await get({ project_id: randomUUID() })
  expect(overall).toEqual({ lcp: null, inp: null, cls: null, fcp: null, ttfb: null, samples: 0 })
  expect(pages).toEqual([])
  const query = new URLSearchParams({ project_id: projectId, filter: 'hem:ne:x' })
  expect((await events.app.inject({ url: `${path}?${query}` })).statusCode).toBe(400)
})
