import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { openWebhooks } from '../api/activation/webhooks/harness.ts'
import { ownDatabases } from '../harness/databases.ts'
import { openMailServer } from '../harness/mailServer.ts'
import { type Service, startService } from '../harness/service.ts'

let env: Record<string, string>
let service: Service
let mail: Awaited<ReturnType<typeof openMailServer>>
let it: Awaited<ReturnType<typeof openWebhooks>>
beforeAll(async () => {
  mail = await openMailServer()
  env = {
    ...(await ownDatabases()),
    // The address stays the same when the service starts again.
    PORT: String(await freePort()),
    FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
  }
  service = await startService({ env })
  it = await openWebhooks({ service, env, mail })
})
afterAll(async () => {
  await service?.stop()
  await it?.close()
  await mail?.close()
})

test('a service that is killed between the commit and the delivery delivers, with the same id', async () => {
  const { webhook } = await it.create('/killed')
  it.receiver.on('/killed', (response) => {
    if (it.receiver.at('/killed').length > 1) response.end()
  })
  await it.happen({ data: { before: true } })
  const [first] = await it.arrivals('/killed')
  await service.end('SIGKILL')
  await it.happen({ data: { while: 'it was down' } })
  service = await startService({ env, dataDir: service.dataDir })
  const arrived = await it.arrivals('/killed', 3)
  const again = arrived.slice(1).find(({ body }) => body === first!.body)
  expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(arrived.map(({ body }) => JSON.parse(body).data)).toContainEqual({ while: 'it was down' })
  await it.delivery(webhook.id, ({ status }) => status === 'delivered')
}, 600_000)
