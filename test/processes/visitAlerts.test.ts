/** A visit alert of a running service: from the beacon to the receiver within ten seconds. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../collector/platform/hem.ts'
import { openWebhooks } from '../api/activation/webhooks/harness.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService } from '../harness/service.ts'

let service: Service
let it: Awaited<ReturnType<typeof openWebhooks>>
beforeAll(async () => {
  const env = { ...(await ownDatabases()), FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  service = await startService({ env })
  it = await openWebhooks({ service, env, mail: undefined as never })
})
afterAll(async () => {
  await it?.close()
})

test('a visit is reported by webhook and chat within ten seconds of its beacon', async () => {
  const email = `${randomUUID()}@people.example`
  const { project_id, pixel_id } = service.demo
  await it.create('/visits', { event_types: ['visit.matched'], project_id })
  const { status } = await it.ask('POST /api/v1/visit-alerts', {
    project_id,
    name: 'Ada',
    tier: 'resolution_hem',
    match: { kind: 'person', person: email },
    chat_url: `${it.receiver.url}/chat`,
  })
  expect(status).toBe(201)
  const cookieId = randomUUID()
  const send = async () => {
    const answer = await fetch(`${service.url}/e`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Mozilla/5.0 Chrome/130' },
      body: JSON.stringify({
        pixel_id,
        cookie_id: cookieId,
        hem: hemOf(email),
        sent_at: new Date().toISOString(),
        events: [
          {
            event_id: randomUUID(),
            event_type: 'page_view',
            event_data: {
              url: 'https://shop.example/pricing',
              title: 'Pricing',
              referrer: null,
              screen: { height: 900, width: 1440 },
              viewport: { height: 800, width: 1440 },
              timestamp: new Date().toISOString(),
            },
          },
        ],
      }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const sentAt = performance.now()
  expect(await send()).toMatchObject({ status: 200 })
  const [[message], [chat]] = await Promise.all([it.arrivals('/visits'), it.arrivals('/chat')])
  expect(performance.now() - sentAt).toBeLessThan(10_000)
  expect(JSON.parse(message!.body)).toMatchObject({
    type: 'visit.matched',
    data: { visitor: { cookie_id: cookieId }, session: { events: 1 } },
  })
  expect(JSON.parse(chat!.body).text).toContain('- Pricing /pricing')
  await send()
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  expect(it.receiver.at('/visits')).toHaveLength(1)
}, 600_000)
