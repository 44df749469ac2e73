/** HAProxy and nginx by their examples, before two collectors that are restarted one after the other. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { freeAddresses, type RunningProxy, startProxy } from './proxies.ts'

let directory: string
let env: Record<string, string>
let services: Service[]
let proxies: RunningProxy[]
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-balancers-'))
  env = {
    ...(await ownDatabases()),
    FOOTFALL_TRUSTED_PROXIES: '127.0.0.1',
    // Longer than HAProxy takes to notice.
    FOOTFALL_DRAIN_SECONDS: '6',
  }
  const first = await startService({ env })
  services = [first, await startService({ env })]
  const urls = [services[0]!.url, services[1]!.url] as const
  proxies = [
    await startProxy('haproxy', directory, urls, await freeAddresses()),
    await startProxy('nginx', directory, urls, await freeAddresses()),
  ]
})
afterAll(async () => {
  for (const { process } of proxies ?? []) process.kill('SIGKILL')
  await Promise.all((services ?? []).map((service) => service.end('SIGKILL')))
  for (const { dataDir } of services ?? []) rmSync(dataDir, { recursive: true, force: true })
  rmSync(directory, { recursive: true, force: true })
})

const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status
    },
    () => 0,
  )

test('the world reaches what pages load and send to, and nothing else; insiders all but /metrics', async () => {
  for (const { name, world, inside } of proxies) {
    const open = [
      `/p/${services[0]!.demo.pixel_id}.js`,
      `/e.gif?pixel_id=${services[0]!.demo.pixel_id}&url=http://a.example/`,
    ]
    for (const path of open)
      expect([name, path, await statusOf(world + path)]).toEqual([name, path, 200])
    // A GET that the collector refuses has reached it.
    for (const path of ['/v1/track', '/v1/b'])
      expect([name, path, await statusOf(world + path)]).toEqual([name, path, 405])
    for (const path of [
      '/',
      '/v1/whoami',
      '/metrics',
      '/readyz',
      '/docs',
      '/openapi.json',
      '/api/v1/whoami',
      '/p/..%2fmetrics',
      '/e/../metrics',
    ])
      expect([name, path, await statusOf(world + path)]).toEqual([name, path, 404])
    expect([name, await statusOf(`${inside}/docs`)]).toEqual([name, 200])
    for (const path of ['/metrics', '/metrics/', '/%6detrics'])
      expect([name, path, await statusOf(inside + path)]).toEqual([name, path, 404])
  }
})

test('a rolling restart fails no request, and stores each event once', async () => {
  const [{ demo }] = services as [Service]
  const key = { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret }
  const failures: string[] = []
  const sent: string[] = []
  let isOver = false
  const load = proxies.flatMap(({ name, world, inside }) => [
    ...Array.from({ length: 12 }, async () => {
      while (!isOver) {
        const event = customEvent()
        const status = await postBeacon(world, beaconOf(services[0]!, [event])).then(
          async (answer) => {
            await answer.arrayBuffer()
            return answer.status
          },
          (error: Error) => String(error.cause ?? error),
        )
        if (status === 200) sent.push(event.event_id)
        else failures.push(`${name} POST /e: ${status}`)
        await delay(10)
      }
    }),
    (async () => {
      while (!isOver) {
        const answer = await fetch(`${inside}/api/v1/whoami`, { headers: key }).then(
          async (answer) => `${answer.status} ${await answer.text()}`,
          (error: Error) => String(error.cause ?? error),
        )
        if (!answer.startsWith('200 ')) failures.push(`${name} GET: ${answer}`)
        await delay(20)
      }
    })(),
  ])

  for (const index of [0, 1]) {
    const { url, dataDir } = services[index]!
    const before = sent.length
    await services[index]!.end('SIGTERM')
    expect(sent.length).toBeGreaterThan(before)
    const restarted = await startService({ env: { ...env, PORT: new URL(url).port }, dataDir })
    services[index] = { ...restarted, demo }
    // HAProxy gives it requests again before the other one stops.
    await waitFor('requests for it', async () => (await requestsOf(url)) > 0)
  }
  isOver = true
  await Promise.all(load)
  expect(failures).toEqual([])

  const clickhouse = openClickHouse(env.CLICKHOUSE_URL!, env.CLICKHOUSE_DATABASE!)
  try {
    const stored = async () => {
      const rows = await clickhouse.rows<{ event_id: string }>({
        sql: "SELECT event_id FROM events WHERE event_type = 'custom'",
        params: {},
      })
      return rows.map(({ event_id }) => event_id).sort()
    }
    await waitFor('all events', async () => new Set(await stored()).size >= sent.length)
    expect(await stored()).toEqual(sent.sort())
  } finally {
    await clickhouse.close()
  }
}, 600_000)

/** How many beacons a service has taken since it started. */
async function requestsOf(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^footfall_events_accepted_total (\d+)/m.exec(metrics)?.[1] ?? 0)
}
