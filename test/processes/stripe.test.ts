import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startFakeStripe } from '../api/billing/fakeStripe.ts'
import { ask, beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { runNextTo } from '../harness/commands.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

const stripeKey = 'sk_test_never_to_be_seen_4eC39HqLyjWDarjtT1zdp7dc'
let service: Service
let stripe: Awaited<ReturnType<typeof startFakeStripe>>
let env: Record<string, string>

beforeAll(async () => {
  stripe = await startFakeStripe()
  env = {
    DATABASE_URL: await newPostgresDatabase(),
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: await newServiceDatabases(),
    FOOTFALL_DEMO: 'true',
    FOOTFALL_WORKERS: '1',
    LOG_LEVEL: 'trace',
    STRIPE_API_KEY: stripeKey,
    STRIPE_API_BASE: stripe.url,
  }
  service = await startService({ env })
})
afterAll(async () => {
  await service.stop()
  await stripe.close()
})

/** Runs `npx footfall-server billing …` as an operator would, next to the service. */
const footfall = async (...args: string[]) =>
  (await runNextTo(service.dataDir, ['billing', ...args])).output

test('usage that is the sum of the ledger reaches Stripe after a restart, and no log holds a secret, whatever Stripe answers', async () => {
  const { demo, dataDir } = service
  const idempotencyKey = `never-to-be-logged-${randomUUID()}`
  // Else the first records of a month are free.
  await footfall('price', demo.organization_id, 'events', '5000', '0')
  const event = customEvent()
  await postBeacon(service.url, beaconOf(service, [event]))
  await readEvent(service, event.event_id)
  await (
    await ask(service, '/api/v3/events/web_event?limit=1', { 'idempotency-key': idempotencyKey })
  ).text()
  expect(await footfall('check')).toContain('all totals are the sums of the ledger')
  await footfall('customer', demo.organization_id, 'cus_1')
  stripe.treat = () => 'refuse'
  const output = [service.output()]
  await service.end('SIGTERM')

  service = await startService({ env: { ...env, PORT: new URL(service.url).port }, dataDir })
  await waitFor('the refusal', () => stripe.asked.length > 0)
  await waitFor('the note of it', async () => (await footfall('reports')).includes('401'))
  await waitFor('its line in the log', () => service.output().includes('Stripe rejected'))
  output.push(service.output())
  await service.end('SIGTERM')
  stripe.treat = () => 'take'
  expect(stripe.taken.size).toBe(0)

  // Five seconds later it is due again: the next start finds it.
  service = await startService({ env: { ...env, PORT: new URL(service.url).port }, dataDir })
  await waitFor('the report', async () => {
    if (stripe.taken.size > 0) return true
    await service.end('SIGTERM')
    service = await startService({ env: { ...env, PORT: new URL(service.url).port }, dataDir })
    return false
  })
  output.push(service.output(), await footfall('reports'))
  expect([...stripe.taken.values()]).toMatchObject([
    { event_name: 'footfall_events', customer: 'cus_1' },
  ])
  // The demo's welcome text is not a log.
  const logged = output
    .flatMap((text) => text.split('\n'))
    .filter((line) => /^(\{|\d{4}-)/.test(line))
  expect(logged.join('\n')).toMatch(
    /"meter":"events","reason":"401 \w+","msg":"Stripe rejected a report"/,
  )
  for (const secret of [stripeKey, demo.api_secret, demo.api_key, idempotencyKey]) {
    expect(logged.filter((line) => line.includes(secret))).toEqual([])
  }
}, 600_000)
