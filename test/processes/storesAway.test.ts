import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { findWorkers, killNow } from '../chaos/processes.ts'
import { startProxy } from '../chaos/proxy.ts'
import { customEvent, postBeacon, receiptOf } from '../harness/api.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { storeOrganization, storePixel, storeProject } from '../harness/owners.ts'
import { type PostgresProxy, startPostgresProxy } from '../harness/postgresProxy.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

/* Behavior of a service that starts, or runs, without a store. */

const [project, pixel, optedOut] = [randomUUID(), randomUUID(), randomUUID()]
let postgres: Postgres
let proxy: PostgresProxy
let env: Record<string, string>

beforeAll(async () => {
  const databaseUrl = await newPostgresDatabase()
  postgres = openPostgres(databaseUrl, () => {})
  proxy = await startPostgresProxy(databaseUrl, 'nothing is lost')
  env = {
    DATABASE_URL: proxy.url,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: await newServiceDatabases(),
    PORT: String(await freePort()),
  }
  const organization = randomUUID()
  await storeOrganization(postgres, organization, 'Away')
  await storeProject(postgres, project, organization, 'Away')
  await storePixel(postgres, pixel, project, 'Away')
})
afterAll(async () => {
  await proxy.refuse()
  await postgres.end()
})

/** Sends one event; returns the answer. */
const send = async ({ url }: Pick<Service, 'url'>, more: Record<string, unknown> = {}) => {
  const answer = await postBeacon(url, {
    pixel_id: pixel,
    sent_at: new Date().toISOString(),
    events: [customEvent()],
    ...more,
  })
  return { status: answer.status, receipt: answer.ok ? await receiptOf(answer) : null }
}
/** Whether an event of the browser that opted out is dropped. Its answer is that of any other browser. */
const dropsOptedOut = async (service: Service) => {
  const dropped = async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    return Number(/^footfall_events_dropped_opt_out_total (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }
  const before = await dropped()
  const { receipt } = await send(service, { cookie_id: optedOut })
  expect(receipt).toEqual({ cookie_id: optedOut, accepted: 1, rejected: [] })
  return (await dropped()) > before
}
/** The id of a browser that gives no consent: of the day's salt. */
const cookielessId = async (service: Service) =>
  (await send(service, { consent: false })).receipt!.cookie_id

test('a collector starts and replaces workers while PostgreSQL is away, with the pixels, opt-outs and salt it knew', async () => {
  const ingest = { ...env, FOOTFALL_ROLE: 'ingest' }
  let service = await startService({ env: ingest })
  const { dataDir } = service
  try {
    await postgres.query('INSERT INTO opt_outs (cookie_id) VALUES ($1)', [optedOut])
    await waitFor('the opt-out to count', () => dropsOptedOut(service))
    const cookieless = await cookielessId(service)
    const kept = join(dataDir, 'kept')
    await waitFor('copies', () => {
      const copies = readdirSync(kept)
      return ['pixels.log', 'opt_outs.log', 'daily_salt.json', 'collector.json'].every((name) =>
        copies.includes(name),
      )
    })
    for (const name of readdirSync(kept))
      expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600)
    await proxy.refuse()
    await service.end('SIGTERM')

    service = await startService({ env: ingest, dataDir })
    expect((await send(service)).receipt).toMatchObject({ accepted: 1 })
    expect(await dropsOptedOut(service)).toBe(true)
    expect(await cookielessId(service)).toBe(cookieless)
    expect((await send(service, { pixel_id: randomUUID() })).status).toBe(404)

    const [worker] = findWorkers(service.process.pid!)
    killNow(worker!.pid)
    await waitFor('another worker', async () => {
      const workers = findWorkers(service.process.pid!)
      return workers.length > 0 && workers.every(({ pid }) => pid !== worker!.pid)
    })
    const replaced = await waitFor(
      'it to take beacons',
      () => send(service).catch(() => null),
      120_000,
    )
    expect(replaced.receipt).toMatchObject({ accepted: 1 })

    await proxy.accept()
    await waitFor(
      'the collector to ship, and to say so',
      async () => {
        const { rows } = await postgres.query(
          'SELECT complete_until_ms::float8 AS mark FROM collectors',
        )
        return rows[0].mark > Date.now() - 5_000
      },
      120_000,
    )
    const added = randomUUID()
    await storePixel(postgres, added, project, 'New')
    await waitFor(
      'a new pixel',
      async () => (await send(service, { pixel_id: added })).status === 200,
    )
  } finally {
    await service.end('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  }
}, 600_000)

test('the api opens its port while PostgreSQL or ClickHouse is away, and /readyz says which, then and later', async () => {
  const clickhouse = await startProxy(inject('clickhouseUrl'))
  await proxy.refuse()
  await clickhouse.refuse()
  const url = `http://127.0.0.1:${env.PORT}`
  const readyz = async () => {
    const answer = await fetch(`${url}/readyz`).catch(() => null)
    return (
      answer && {
        status: answer.status,
        body: (await answer.json()) as { error?: string; message?: string },
      }
    )
  }
  const isNotReady = (store: RegExp) => async () => {
    const answer = await readyz()
    return (
      answer?.status === 503 &&
      answer.body.error === 'not_ready' &&
      store.test(answer.body.message!)
    )
  }
  const starting = startService({
    env: { ...env, CLICKHOUSE_URL: clickhouse.url, FOOTFALL_ROLE: 'api' },
  })
  await waitFor('PostgreSQL to be missed', isNotReady(/PostgreSQL/))
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const asked = await fetch(`${url}/api/v3/events/web_event`)
  expect([asked.status, ((await asked.json()) as { error: string }).error]).toEqual([503, 'busy'])
  expect(Number(asked.headers.get('retry-after'))).toBeGreaterThan(0)

  await proxy.accept()
  await waitFor('ClickHouse to be missed', isNotReady(/ClickHouse/))
  await clickhouse.accept()
  const service = await starting
  try {
    await proxy.refuse()
    await waitFor('PostgreSQL to be missed again', isNotReady(/PostgreSQL/))
    // Who replaces a worker now needs nothing of PostgreSQL either.
    const [worker] = findWorkers(service.process.pid!)
    killNow(worker!.pid)
    await waitFor('another worker', async () => {
      const workers = findWorkers(service.process.pid!)
      return workers.length > 0 && workers.every(({ pid }) => pid !== worker!.pid)
    })
    await waitFor('it to say so', isNotReady(/PostgreSQL/))
    await proxy.accept()
    await waitFor('both stores', async () => (await readyz())?.status === 200)
  } finally {
    await service.stop()
    await clickhouse.refuse()
  }
}, 600_000)
