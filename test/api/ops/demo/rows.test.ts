import { afterAll, beforeAll, expect, test } from 'vitest'
import { converse } from '../../../harness/converse.ts'
import { openTenants, type Tenants } from '../../../harness/tenants.ts'
import { eventOf } from '../../events/harness.ts'

let tenants: Tenants
beforeAll(async () => {
  tenants = await openTenants({ hasShop: true })
})
afterAll(() => tenants.close())

const now = Date.now()

test('the shop reads its own pixel’s rows and no others, unbilled, and not too often', async () => {
  const { organizationId, first, second, foreign } = tenants
  const of = (owner: { projectId: string; pixelId: string }, more = {}) =>
    eventOf(now, 1_000, {
      organization_id: organizationId,
      project_id: owner.projectId,
      pixel_id: owner.pixelId,
      ...more,
    })
  const [own, others, theirs, dsp] = [
    of(first),
    of(second),
    of(foreign, { organization_id: foreign.organizationId }),
    of(first, { source: 'svcdsp', campaign_id: 'c' }),
  ]
  await tenants.insert([own, others, theirs, dsp])
  const ids = [own, others, theirs, dsp].map(({ event_id }) => event_id).join()

  const answer = await tenants.ask('/demo/rows', { event_id: ids }, {})
  expect(answer.status).toBe(200)
  expect(answer.body.rows.map(({ event_id }: { event_id: string }) => event_id)).toEqual([
    own.event_id,
  ])
  const page = await tenants.ask('/api/v3/events/web_event', {
    filter: `event_id:eq:${own.event_id}`,
  })
  expect(answer.body.rows).toEqual(page.body.rows)

  // All at once: a busy machine would spread requests over many seconds.
  const request = (connection: string) =>
    `GET /demo/rows?event_id=${ids} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`
  const asked = await converse(
    Number(new URL(tenants.service.url).port),
    [request('keep-alive').repeat(59) + request('close')],
    { betweenWritesMs: 0, silentMs: 60_000 },
  )
  expect(asked).toHaveLength(60)
  const refused = asked.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]!.text).toContain('"error":"rate_limited"')
  expect(refused[0]!.text).toMatch(/^retry-after: 1\r$/im)
  expect(asked.every(({ status }) => status === 200 || status === 429)).toBe(true)

  // The page above is all that was charged.
  const { rows } = await tenants.postgres.query(
    'SELECT records::int FROM ledger WHERE organization_id = $1',
    [organizationId],
  )
  expect(rows).toEqual([{ records: 1 }])
})
