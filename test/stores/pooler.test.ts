/** PgBouncer before PostgreSQL: by sessions all works, by transactions a start names it and ends. */
import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { startService, waitFor } from '../harness/service.ts'

let directory: string
let env: Record<string, string>
let stop: () => Promise<void> = async () => {}
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-pooler-'))
  env = await ownDatabases()
})
afterEach(() => stop())
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** PgBouncer refuses to run as root; who it runs as owns its files. */
const nobody = 65_534

/** Starts it before the PostgreSQL of `env`, and returns the address to use instead. */
async function startPooler(mode: 'session' | 'transaction'): Promise<string> {
  const target = new URL(env.DATABASE_URL!)
  const port = await freePort()
  const file = join(directory, `${mode}.ini`)
  writeFileSync(
    file,
    `[databases]
* = host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 200
default_pool_size = 60
ignore_startup_parameters = extra_float_digits
`,
  )
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const path of [directory, file]) chownSync(path, nobody, nobody)
  const pooler = spawn('pgbouncer', [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin' },
    ...(isRoot && { uid: nobody, gid: nobody }),
  })
  let said = ''
  pooler.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const gone = new Promise<void>((resolve) => {
    pooler.once('error', () => resolve())
    pooler.once('exit', () => resolve())
  })
  stop = async () => {
    pooler.kill('SIGKILL')
    await gone
    stop = async () => {}
  }
  target.host = `127.0.0.1:${port}`
  const asked: Postgres = openPostgres(target.href, () => {})
  await waitFor('PgBouncer', () =>
    asked.query('SELECT 1').then(
      () => true,
      () => false,
    ),
  ).catch((error: Error) => {
    throw new Error(`${error.message} (on Debian as root "npm test" installs it): ${said}`)
  })
  await asked.end()
  return target.href
}

test('in transaction mode a start ends, and says what to set', async () => {
  const DATABASE_URL = await startPooler('transaction')
  await expect(startService({ env: { ...env, DATABASE_URL } })).rejects.toThrow(
    /footfall: DATABASE_URL points to a pooler in transaction mode.+ set pool_mode = session\./,
  )
})

test('in session mode events are shipped and changes of pixels are heard', async () => {
  const DATABASE_URL = await startPooler('session')
  const service = await startService({ env: { ...env, DATABASE_URL } })
  const event = customEvent()
  expect((await postBeacon(service.url, beaconOf(service, [event]))).status).toBe(200)
  await readEvent(service, event.event_id)
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  await postgres.query('UPDATE pixels SET active = false WHERE pixel_id = $1', [
    service.demo.pixel_id,
  ])
  await waitFor('the pixel to be refused', async () => {
    const answer = await postBeacon(service.url, beaconOf(service, [customEvent()]))
    return answer.status !== 200
  })
  await postgres.end()
  await service.stop()
})
