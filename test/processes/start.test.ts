import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { ask, beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { fillDisk, mountDisk, mountRefusal } from '../harness/smallDisk.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-start-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Runs the built service until it ends by itself; everything that it printed. */
async function runToEnd(
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(packageRoot, 'dist/collector/main.js')], {
    env: {
      ...process.env,
      FOOTFALL_SECRET_KEY: Buffer.alloc(32, 'key').toString('base64'),
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output: output.trim() }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('events survive a Ctrl-C, a kill -9 and a start on the same directory; nothing else stays behind', async () => {
  const dataDir = join(directory, 'again')
  const ids: string[] = []
  for (const signal of ['SIGINT', 'SIGKILL', 'SIGTERM'] as const) {
    const service = await startService({ dataDir })
    for (const id of ids) await readEvent(service, id)
    const event = customEvent()
    expect((await postBeacon(service.url, beaconOf(service, [event]))).status).toBe(200)
    ids.push(event.event_id)
    const code = await service.end(signal)
    expect(code).toBe(signal === 'SIGKILL' ? null : 0)
    await waitFor(
      'its processes to be gone',
      () => !isAlive(service.process.pid!) && processesOf(dataDir).length === 0,
    )
  }
  const service = await startService({ dataDir })
  const phases = service.output().match(/^footfall: .+$/gm)
  expect(phases).toEqual([
    `footfall: starting ClickHouse and PostgreSQL in ${dataDir}`,
    'footfall: migrating PostgreSQL',
    'footfall: reading the spool',
    'footfall: migrating ClickHouse',
    'footfall: starting 1 worker',
  ])
  for (const id of ids) await readEvent(service, id)
  await service.stop()
}, 600_000)

/** The local stores of a data directory, by their lock: PostgreSQL notes its process there. */
function processesOf(dataDir: string): string[] {
  return existsSync(join(dataDir, 'postgres/data/postmaster.pid')) ? ['postgres'] : []
}

test('who stops it drains first: /readyz says so, and everything is answered until then', async () => {
  const service = await startService({
    env: {
      ...(await ownDatabases()),
      FOOTFALL_DRAIN_SECONDS: '600',
      FOOTFALL_POSTGRES_CONNECTIONS_MAX: '20',
    },
  })
  const readiness = async () => {
    const answer = await fetch(`${service.url}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }
  expect((await readiness()).status).toBe(200)
  service.process.kill('SIGHUP')
  await waitFor('draining', async () => (await readiness()).status === 503)
  expect((await readiness()).body).toMatchObject({
    error: 'not_ready',
    message: 'the service is draining before it stops',
  })
  expect((await postBeacon(service.url, beaconOf(service, [customEvent()]))).status).toBe(200)
  await service.end('SIGKILL')
  const logged = service
    .output()
    .match(/^.*draining.*$/gm)!
    .map((line) => JSON.parse(line))
  expect(logged).toMatchObject([{ level: 40, reason: 'the service is draining before it stops' }])
  expect(service.output()).not.toMatch(/"level":50/)
  await service.stop()
})

test('a start without FOOTFALL_SECRET_KEY on a PostgreSQL of the operator’s says what does not work', async () => {
  const databases = await ownDatabases()
  for (const [key, warnings] of [
    ['', 1],
    [Buffer.alloc(32, 'key').toString('base64'), 0],
  ] as const) {
    const service = await startService({ env: { ...databases, FOOTFALL_SECRET_KEY: key } })
    await service.end('SIGTERM')
    expect(
      service.output().match(/"level":40.*FOOTFALL_SECRET_KEY is not set/g) ?? [],
    ).toHaveLength(warnings)
    await service.stop()
  }
})

test('what an open connection still asks of a service that stops is answered, kept, and ends the connection', async () => {
  const env = await ownDatabases()
  const service = await startService({ env })
  const { port } = new URL(service.url)
  const events = [customEvent(), customEvent()]
  const [first, second] = events.map((event) => {
    const body = JSON.stringify(beaconOf(service, [event]))
    const head = `Content-Type: text/plain\r\nContent-Length: ${body.length}`
    return `POST /e HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${head}\r\n\r\n${body}`
  }) as [string, string]
  const socket = connect(Number(port), '127.0.0.1')
  let read = ''
  socket.setEncoding('utf8').on('data', (text) => (read += text))
  const closed = once(socket, 'close')
  // Under way until its last byte is there.
  socket.write(first.slice(0, -1))
  await waitFor('the request to be read', () => read.includes('100 Continue'))
  const ended = service.end('SIGTERM')
  await waitFor('the end of new connections', async () => {
    // Sends nothing: a request accepted while workers close is not answered until the process has ended.
    const another = connect(Number(port), '127.0.0.1')
    const isTaken = await once(another, 'connect').then(
      () => true,
      () => false,
    )
    another.destroy()
    return !isTaken
  })
  socket.write(first.slice(-1) + second)
  await closed
  expect(read.match(/HTTP\/1\.1 [2-9]\d\d/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  expect(read.match(/connection: close/gi)).toHaveLength(1)
  expect(await ended).toBe(0)
  const { dataDir } = service
  const again = await startService({ env, dataDir })
  for (const { event_id } of events) await readEvent({ ...again, demo: service.demo }, event_id)
  await again.stop()
})

describe('two services', () => {
  let first: Service
  beforeAll(async () => {
    first = await startService({ hasSample: true })
  })
  afterAll(() => first.stop())

  test('on ports and directories of their own run side by side, each with its own data', async () => {
    const second = await startService()
    expect(second.demo.pixel_id).not.toBe(first.demo.pixel_id)
    const event = customEvent()
    await postBeacon(second.url, beaconOf(second, [event]))
    await readEvent(second, event.event_id)
    expect((await postBeacon(first.url, beaconOf(second, [event]))).status).toBe(404)
    await second.stop()
  })

  test('on one directory: the second says so in one line', async () => {
    const { code, output } = await runToEnd({ FOOTFALL_DATA_DIR: first.dataDir, PORT: '1' })
    expect(code).toBe(1)
    expect(output).toBe(`footfall: ${first.dataDir} is in use by another Footfall process`)
  })

  test('the demo’s secrets are for the owner’s eyes only, and not on any command line', () => {
    for (const file of ['demo.json', 'stores.json', 'clickhouse/password', 'postgres/password']) {
      expect(statSync(join(first.dataDir, file)).mode & 0o077, file).toBe(0)
    }
  })

  test('a test key reads sample data at once, marked as such', async () => {
    const { test_api_key, test_api_secret } = first.demo
    const headers = { 'x-api-key': test_api_key, 'x-api-secret': test_api_secret }
    const answer = await ask(first, '/api/v3/events/web_event?limit=5', headers)
    expect(answer.headers.get('x-svc-mode')).toBe('test')
    expect(((await answer.json()) as { rows: unknown[] }).rows).toHaveLength(5)
    const live = await ask(first, '/api/v3/events/web_event')
    expect(live.headers.get('x-svc-mode')).toBeNull()
    await live.body?.cancel()
  })

  test('the front page is the dashboard, and the shop has a page of its own', async () => {
    const front = await fetch(first.demo.dashboard_url)
    expect(front.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await front.text()).toContain('<title>Footfall')
    expect(await (await fetch(first.demo.demo_url)).text()).toContain(first.demo.pixel_id)
  })

  test('health, readiness, metrics and the API’s description are there', async () => {
    expect(await (await fetch(`${first.url}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${first.url}/readyz`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${first.url}/metrics`)).text()).toContain(
      'footfall_events_accepted_total',
    )
    const openapi = (await (await fetch(`${first.url}/openapi.json`)).json()) as {
      paths: Record<string, unknown>
    }
    expect(Object.keys(openapi.paths)).toContain('/api/v3/events/web_event')
    expect(Object.keys(openapi.paths)).toContain('/e')
  })
})

describe('what cannot work is said in one line', () => {
  test('a busy port', async () => {
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    const { port } = holder.address() as { port: number }
    const { code, output } = await runToEnd({
      ...(await ownDatabases()),
      FOOTFALL_DATA_DIR: join(directory, 'busy'),
      PORT: String(port),
      FOOTFALL_SAMPLE_DAYS: '0',
    })
    holder.close()
    expect(code).toBe(1)
    expect(output).toBe(`footfall: port ${port} is in use; set PORT to another`)
  })

  test('a database of addresses that cannot be read', async () => {
    const { code, output } = await runToEnd({
      FOOTFALL_DATA_DIR: join(directory, 'places'),
      FOOTFALL_IP_DATABASE: '/nowhere/city.mmdb',
    })
    expect(code).toBe(1)
    expect(output).toContain('FOOTFALL_IP_DATABASE /nowhere/city.mmdb')
  })

  test('more workers than PostgreSQL has connections for', async () => {
    const { code, output } = await runToEnd({
      ...(await ownDatabases()),
      FOOTFALL_DATA_DIR: join(directory, 'crowd'),
      FOOTFALL_WORKERS: '4',
      FOOTFALL_POSTGRES_CONNECTIONS_MAX: '20',
    })
    expect(code).toBe(1)
    expect(output.split('\n').at(-1)).toBe(
      'footfall: 4 workers need 28 connections of PostgreSQL, but 20 are available: lower FOOTFALL_WORKERS, or raise max_connections or FOOTFALL_POSTGRES_CONNECTIONS_MAX',
    )
  })

  test.runIf(mountRefusal() === null)('a disk without room for new local stores', async () => {
    const small = join(directory, 'small')
    mkdirSync(small)
    const unmount = mountDisk(small)
    try {
      const { code, output } = await runToEnd({ FOOTFALL_DATA_DIR: small })
      expect(code).toBe(1)
      expect(output).toMatch(
        /^footfall: the disk of \S+ has \d+ MiB free, and new local stores need 512 MiB: free space, or set FOOTFALL_DATA_DIR to another disk$/,
      )
      const disk = fillDisk(join(small, 'ballast'))
      const full = await runToEnd({ ...(await ownDatabases()), FOOTFALL_DATA_DIR: small })
      disk.remove()
      expect(full.code).toBe(1)
      expect(full.output).toMatch(/^footfall: the disk is full: free space \(ENOSPC: [^\n]+\)$/m)
      expect(full.output).not.toMatch(/\n\s+at /)
    } finally {
      unmount()
    }
  })

  test('a data directory that is a file, or cannot be written', async () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    const refused = await runToEnd({ FOOTFALL_DATA_DIR: file })
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^footfall: cannot write to FOOTFALL_DATA_DIR: .+$/),
    })
    if (process.getuid?.() === 0) return
    const locked = join(directory, 'locked')
    mkdirSync(locked)
    chmodSync(locked, 0o500)
    expect((await runToEnd({ FOOTFALL_DATA_DIR: locked })).output).toMatch(
      /^footfall: cannot write to .+$/,
    )
  })

  test.each([
    ['PORT', 'http'],
    ['FOOTFALL_ROLE', 'everything'],
    ['LOG_LEVEL', 'loud'],
    ['CLICKHOUSE_URL', 'localhost'],
    ['DATABASE_URL', 'mysql://secret@x/y'],
    ['FOOTFALL_DEMO', 'perhaps'],
    ['FOOTFALL_WORKERS', '0'],
    ['CLICKHOUSE_DATABASE', 'a; DROP'],
  ])('%s=%s', async (name, value) => {
    const { code, output } = await runToEnd({
      FOOTFALL_DATA_DIR: join(directory, 'config'),
      [name]: value,
    })
    expect(code).toBe(1)
    expect(output).toMatch(new RegExp(`^footfall: ${name} must be [^\\n]+$`))
    expect(output).not.toContain('secret')
  })
})
