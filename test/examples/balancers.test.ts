/** HAProxy and nginx by their examples, before two collectors that are restarted one after the other. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

/** An example as it runs here: published to the world and to insiders at these ports. */
interface Proxy {
  name: string
  process: ChildProcess
  world: string
  inside: string
}

let directory: string
let env: Record<string, string>
let services: Service[]
let proxies: Proxy[]
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-balancers-'))
  env = {
    ...(await ownDatabases()),
    FOOTFALL_TRUSTED_PROXIES: '127.0.0.1',
    // Longer than HAProxy takes to notice.
    FOOTFALL_DRAIN_SECONDS: '4',
  }
  const first = await startService({ env })
  services = [first, await startService({ env })]
  proxies = [await start('haproxy', haproxy), await start('nginx', nginx)]
})
afterAll(async () => {
  for (const { process } of proxies ?? []) process.kill('SIGKILL')
  await Promise.all((services ?? []).map((service) => service.end('SIGKILL')))
  for (const { dataDir } of services ?? []) rmSync(dataDir, { recursive: true, force: true })
  rmSync(directory, { recursive: true, force: true })
})

/** The example's text with the addresses of here, and how it is started. */
type Launch = (example: string) => { file: string; text: string; command: [string, ...string[]] }

const haproxy: Launch = (text) => {
  const file = join(directory, 'haproxy.cfg')
  return { file, text, command: ['haproxy', '-db', '-f', file] }
}

const nginx: Launch = (example) => {
  const file = join(directory, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const text = `daemon off; master_process off; pid ${directory}/nginx.pid; error_log stderr crit;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      ${example}
    }`
  return { file, text, command: ['nginx', '-p', directory, '-c', file] }
}

async function start(name: 'haproxy' | 'nginx', launch: Launch): Promise<Proxy> {
  const [world, inside] = [await freePort(), await freePort()]
  const [one, other] = services.map(({ url }) => new URL(url).host)
  const path = join(packageRoot, 'examples/deploy', name === 'nginx' ? 'nginx.conf' : 'haproxy.cfg')
  const { file, text, command } = launch(
    readFileSync(path, 'utf8')
      .replace(/ server collector3 .*/, '')
      .replace(/(collector|api)1:8787/g, one!)
      .replace(/(collector|api)2:8787/g, other!)
      .replace(/(bind |listen ):?8080/, `$1127.0.0.1:${world}`)
      .replace(/(bind |listen ):?8081/, `$1127.0.0.1:${inside}`),
  )
  writeFileSync(file, text)
  const [program, ...args] = command
  const process = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin' },
  })
  let said = ''
  process.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise<never>((_resolve, reject) => {
    process.once('error', () =>
      reject(new Error(`${name} is missing: on Debian as root "npm test" installs it`)),
    )
    process.once('exit', () => reject(new Error(`${name} ended: ${said}`)))
  })
  ended.catch(() => {})
  const proxy = { name, process, world: `http://127.0.0.1:${world}`, inside: `http://127.0.0.1:${inside}` }
  const isReady = () => statusOf(`${proxy.inside}/readyz`).then((status) => status === 200)
  await Promise.race([waitFor(name, isReady), ended])
  return proxy
}

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
    for (const path of open) expect([name, path, await statusOf(world + path)]).toEqual([name, path, 200])
    for (const path of [
      '/',
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
    ...[1, 2].map(async () => {
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
}, 300_000)

/** How many beacons a service has taken since it started. */
async function requestsOf(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^footfall_events_accepted_total (\d+)/m.exec(metrics)?.[1] ?? 0)
}
