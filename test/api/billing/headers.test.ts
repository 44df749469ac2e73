import { randomUUID } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventOf, linkOf, openEvents, projectId } from '../events/harness.ts'

/*
 * What every charged answer says of its charge, whatever route gave it.
 */

const events = await openEvents()
afterAll(() => events.close())

const hem = randomUUID().replaceAll('-', '').repeat(2)
const [pixelId, cookie, domain] = [randomUUID(), randomUUID(), `${randomUUID()}.example`]
const window = { start_ms: String(Date.now() - 3_600_000), end_ms: String(Date.now() + 3_600_000) }
const query = String(
  new URLSearchParams({ pixel_id: pixelId, project_id: projectId, limit: '10', ...window }),
)
const pixelOnly = String(new URLSearchParams({ pixel_id: pixelId, limit: '10', ...window }))

beforeAll(async () => {
  await events.know({
    links: [linkOf(cookie, hem)],
    profiles: [{ hem, company_domain: domain, business_email: `ann@${domain}` }],
  })
  await events.insert(
    [1_000, 2_000].map((ago) => eventOf(Date.now(), ago, { pixel_id: pixelId, cookie_id: cookie })),
  )
})

const routes: [InjectOptions, number][] = [
  [{ url: `/api/v3/events/web_event?${query}` }, 2],
  [{ url: `/api/v3/events/resolution_hem/visitors?${query}` }, 1],
  [{ url: `/api/v1/events?${pixelOnly}` }, 2],
  [{ url: `/api/v2/events?${query}` }, 2],
  [{ url: `/api/v1/lookup?hem=${hem}` }, 1],
  [{ method: 'POST', url: '/api/v1/lookup', payload: { hem } }, 1],
  [
    { method: 'POST', url: '/api/v1/lookup/batch', payload: { items: [{ hem }, { hem: 'none' }] } },
    1,
  ],
  [
    {
      method: 'POST',
      url: '/api/v1/contact/query',
      payload: { filter: `company_domain:eq:${domain}` },
    },
    1,
  ],
]

test.each(routes)(
  '%j says how many records were charged, and under which id',
  async (options, records) => {
    const { statusCode, headers } = await events.app.inject(options)
    expect(statusCode).toBe(200)
    expect(headers['x-footfall-charged']).toBe(String(records))
    const { rows } = await events.postgres.query(
      'SELECT records::int FROM ledger WHERE request_id = $1',
      [headers['x-footfall-request-id']],
    )
    expect(rows).toEqual([{ records }])
  },
)

test.each(routes)('%j says of a test key’s answer that nothing was charged', async (options) => {
  const { statusCode, headers } = await events.app.inject({
    ...options,
    headers: { 'x-test-mode': 'test' },
  })
  expect([statusCode, headers['x-footfall-charged']]).toEqual([200, '0'])
})
