/**
 * Free answers name no visitor. The attack links half of the candidates' addresses to own browsers, and sends
 * them and the visitor to an own pixel. Then it searches a figure that counts the visitor twice or once.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fields, isSessionField } from '../../../schemas/fields.ts'
import { eventOf, linkOf, openEvents, organizationId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const visitor = randomUUID()
const candidates = Array.from({ length: 40 }, (_, n) => (n + 1).toString(16).padStart(64, '0'))
/** The visitor's own address is in the first half. */
const halves = [candidates.slice(0, 20), candidates.slice(20)]
const pixels = halves.map(() => randomUUID())
const operator = '00000000-0000-0000-0000-000000000000'

beforeAll(async () => {
  events = await openEvents()
  const browsers = halves.map((half) => half.map((hem) => ({ hem, cookie: randomUUID() })))
  await events.know({
    links: [
      linkOf(visitor, candidates[7]!, { organization_id: operator, source: 'loaded' }),
      ...browsers.flat().map(({ hem, cookie }) => linkOf(cookie, hem, { source: 'identify' })),
    ],
    profiles: candidates.map((hem, n) => ({ hem, company_domain: `company-${n}.example` })),
  })
  await events.insert(
    browsers.flatMap((half, index) =>
      [visitor, ...half.map(({ cookie }) => cookie)].map((cookie_id, n) =>
        eventOf(now, 1_000 + n, {
          cookie_id,
          pixel_id: pixels[index],
          received_at: new Date(now).toISOString(),
        }),
      ),
    ),
  )
})
afterAll(() => events.close())

const routes: Record<string, Row> = {
  '/api/v3/events/web_event/counts': {},
  '/api/v1/event_counts': { organization_id: organizationId },
  '/api/v1/event_counts_index': { organization_id: organizationId },
  '/api/v1/resolution/statistics': {},
}
const queries = (path: string): Record<string, string>[] => {
  if (path.endsWith('statistics')) return [{}, { group_by: 'day' }]
  if (path.endsWith('index')) return [{}, { filter: 'resolved:eq:true' }]
  // The visitor's two events are one session, which begins on one of the pixels.
  return fields
    .filter((field) => !isSessionField(field))
    .flatMap(({ name: distinct }) => [
      { distinct },
      { distinct: `${distinct},cookie_id` },
      { distinct, filter: 'resolved:eq:true', group_by: 'resolved' },
    ])
}

test.each(Object.keys(routes))('%s answers alike, whichever half has the visitor', async (path) => {
  let answered = 0
  for (const query of queries(path)) {
    const [first, second] = await Promise.all(
      pixels.map(async (pixel_id) => {
        const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
        const asked = new URLSearchParams({ ...window, ...routes[path], pixel_id, ...query })
        const { statusCode, body } = await events.app.inject({ url: `${path}?${asked}` })
        const { request_id, meta, ...figures } = JSON.parse(body)
        return { statusCode, figures }
      }),
    )
    expect({ query, ...first }).toEqual({ query, ...second })
    if (first!.statusCode === 200) answered++
  }
  expect(answered).toBeGreaterThan(0)
})
