import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, readEvent } from '../../harness/api.ts'
import { runNextTo } from '../../harness/commands.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
beforeAll(async () => {
  service = (await openTenant()).service
})
afterAll(() => service?.stop())

/** Runs `npx footfall-server billing …` as an operator would, next to the service. */
const footfall = (...args: string[]) => runNextTo(service.dataDir, ['billing', ...args])

const read = (headers: Record<string, string> = {}) =>
  ask(service, '/api/v3/events/web_event?limit=1', headers)

interface Prices {
  free_answers: { per_day: number }
}

test('operators shut an account off and let it go on; prices are set; totals are checked', async () => {
  const event = customEvent()
  await postBeacon(service.url, beaconOf(service, [event]))
  await readEvent(service, event.event_id)
  const { organization_id } = service.demo

  expect(await footfall('shut-off', organization_id)).toMatchObject({ code: 0 })
  // The cache of the last request expires within a second.
  const refused = await waitFor('the refusal', async () => {
    const answer = await read()
    return answer.status === 429 ? answer : null
  })
  expect(await refused.json()).toMatchObject({ error: 'platform_cap_exceeded', kind: 'shut_off' })
  expect(await footfall('resume', organization_id)).toMatchObject({ code: 0 })
  expect((await read()).status).toBe(200)

  expect(await footfall('price', organization_id, 'events', '5000', '0')).toMatchObject({ code: 0 })
  await (await read()).text()
  const usage = (await (await ask(service, '/api/v1/billing/usage')).json()) as {
    amount_micros: number
  }
  expect(usage.amount_micros).toBe(5)
  const answersPerDay = async () =>
    ((await (await ask(service, '/api/v1/billing/prices')).json()) as Prices).free_answers.per_day
  expect(await answersPerDay()).toBe(2_000)
  expect(await footfall('free-answers', organization_id, '7')).toMatchObject({ code: 0 })
  expect(await answersPerDay()).toBe(7)
  expect(await footfall('free-answers', organization_id, 'default')).toMatchObject({ code: 0 })
  expect(await answersPerDay()).toBe(2_000)
  // Other files write to the ledger by hand.
  expect((await footfall('check')).output).not.toContain(organization_id)
})

test.each([
  ['shut-off', 'x'],
  ['shut-off', randomUUID()],
  ['price', 'DEMO', 'cats', '1000', '0'],
  ['free-answers', 'DEMO', 'many'],
  ['price', 'DEMO', 'events', '1001', '0'],
  ['price', 'DEMO', 'events', '-1000', '0'],
  ['customer', 'DEMO', 'me'],
])('footfall-server billing %s %s … says in one line what is wrong', async (...args) => {
  const { code, output } = await footfall(
    ...args.map((arg) => (arg === 'DEMO' ? service.demo.organization_id : arg)),
  )
  expect(code).toBe(1)
  expect(output).toMatch(/^footfall: .+\n$/)
})

test.each([
  ['shut-off', "missing required argument 'ORGANIZATION_ID'"],
  ['price x', "missing required argument 'METER'"],
  ['nothing', "unknown command 'nothing'"],
  ['', 'shut-off'],
])('footfall-server billing %s … says what is missing', async (args, said) => {
  const { code, output } = await footfall(...args.split(' ').filter(Boolean))
  expect([code, output]).toEqual([2, expect.stringContaining(said)])
})
