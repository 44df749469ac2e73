/** A collector that stops with everything in ClickHouse holds no watermark back; one that may have more does. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { readCompleteUntil } from '../../collector/platform/collectors.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { type ClickHouseProxy, startProxy } from '../chaos/proxy.ts'
import { customEvent, postBeacon } from '../harness/api.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { storeOrganization, storePixel, storeProject } from '../harness/owners.ts'
import { type PostgresProxy, startPostgresProxy } from '../harness/postgresProxy.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

const pixel = randomUUID()
let directory: string
let postgres: Postgres
let clickhouse: ClickHouse
let [toPostgres, toClickHouse] = [] as unknown as [PostgresProxy, ClickHouseProxy]
let env: Record<string, string>
/** `leaving` stops and comes back, through the proxies; `staying` keeps running. */
let leaving: Service
let staying: Service

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-release-'))
  const [databaseUrl, database] = await Promise.all([newPostgresDatabase(), newServiceDatabases()])
  postgres = openPostgres(databaseUrl, () => {})
  clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const [organization, project] = [randomUUID(), randomUUID()]
  await storeOrganization(postgres, organization, 'Release')
  await storeProject(postgres, project, organization, 'Release')
  await storePixel(postgres, pixel, project, 'Release')
  toPostgres = await startPostgresProxy(databaseUrl, 'nothing is lost')
  toClickHouse = await startProxy(inject('clickhouseUrl'))
  env = { FOOTFALL_ROLE: 'ingest', CLICKHOUSE_DATABASE: database, DATABASE_URL: databaseUrl }
  leaving = await startLeaving()
  staying = await startService({
    env: { ...env, CLICKHOUSE_URL: inject('clickhouseUrl') },
    dataDir: join(directory, 'staying'),
  })
  await waitFor(
    'both to publish',
    async () => (await markOf('leaving')) > 0 && (await markOf('staying')) > 0,
  )
}, 600_000)
afterEach(async () => {
  await Promise.all([leaving.end('SIGKILL'), staying.end('SIGKILL')])
  await Promise.all([
    toPostgres.refuse(),
    toClickHouse.refuse(),
    clickhouse.close(),
    postgres.end(),
  ])
  rmSync(directory, { recursive: true, force: true })
})

const leavingEnv = () => ({
  ...env,
  CLICKHOUSE_URL: toClickHouse.url,
  DATABASE_URL: toPostgres.url,
})
const startLeaving = () => startService({ env: leavingEnv(), dataDir: join(directory, 'leaving') })

const collectorIds = () => ({
  leaving: join(directory, 'leaving', 'collector_id'),
  staying: join(directory, 'staying', 'collector_id'),
})
const readRow = async (which: 'leaving' | 'staying') => {
  const path = collectorIds()[which]
  if (!existsSync(path)) return null
  const { rows } = await postgres.query<{ mark: number; isReleased: boolean }>(
    `SELECT complete_until_ms::float8 AS mark, released_at IS NOT NULL AS "isReleased" FROM collectors
     WHERE collector_id = $1`,
    [readFileSync(path, 'utf8')],
  )
  return rows[0] ?? null
}
const markOf = async (which: 'leaving' | 'staying') => (await readRow(which))?.mark ?? 0
const isReleased = async () => (await readRow('leaving'))!.isReleased
const completeUntil = async () => (await readCompleteUntil(postgres))!

/** Sends an event to the collector that leaves; its id, after it was acknowledged. */
async function send(): Promise<string> {
  const event = customEvent()
  const sent_at = new Date().toISOString()
  const answer = await postBeacon(leaving.url, { pixel_id: pixel, sent_at, events: [event] })
  expect([answer.status, ((await answer.json()) as { accepted: number }).accepted]).toEqual([
    200, 1,
  ])
  return event.event_id
}
const storedAt = async (id: string) =>
  (
    await clickhouse.rows<{ at: number }>({
      sql: `SELECT toUnixTimestamp64Milli(received_at) AS at FROM events WHERE event_id = {id:UUID}`,
      params: { id },
    })
  ).map(({ at }) => Number(at))
/** The mark for readers does not pass that of the stopped collector while the other moves on. */
async function expectHeldBack(): Promise<void> {
  const [held, other] = [await markOf('leaving'), await markOf('staying')]
  await waitFor('the other to move on', async () => (await markOf('staying')) > other + 3_000)
  expect(await completeUntil()).toBe(held)
  expect(await isReleased()).toBe(false)
}

test('after a clean stop the others move on, and a restart takes its mark up again where readers are', async () => {
  const before = await send()
  await leaving.end('SIGTERM')
  const stoppedAt = Date.now()
  expect(await isReleased()).toBe(true)
  expect(await storedAt(before)).toHaveLength(1)
  await waitFor(
    'complete_until to move on',
    async () => (await completeUntil()) > stoppedAt + 2_000,
  )
  expect((await storedAt(before))[0]).toBeLessThan(await completeUntil())

  const read = await completeUntil()
  leaving = await startLeaving()
  expect(await isReleased()).toBe(false)
  await toClickHouse.refuse()
  const after = await send()
  const held = await markOf('leaving')
  expect(held).toBeGreaterThanOrEqual(read)
  await waitFor('the other to move on', async () => (await markOf('staying')) > held + 3_000)
  expect(await completeUntil()).toBe(await markOf('leaving'))
  const told = await completeUntil()
  await toClickHouse.accept()
  const [at, ...more] = await waitFor('the event', async () => {
    const found = await storedAt(after)
    return found.length > 0 ? found : null
  })
  expect(more).toEqual([])
  expect(at).toBeGreaterThanOrEqual(told)
}, 600_000)

test('when all have stopped cleanly, readers keep what they had, and a start begins after it', async () => {
  await Promise.all([leaving.end('SIGTERM'), staying.end('SIGTERM')])
  const told = await completeUntil()
  expect(told).toBeGreaterThan(Date.now() - 60_000)
  await delay(1_100)
  expect(await completeUntil()).toBe(told)
  leaving = await startLeaving()
  expect(await markOf('leaving')).toBeGreaterThanOrEqual(told)
}, 600_000)

test('after kill -9 it holds the others back', async () => {
  await send()
  await leaving.end('SIGKILL')
  await expectHeldBack()
  leaving = await startLeaving()
  const held = await markOf('leaving')
  await waitFor('complete_until to move on', async () => (await completeUntil()) > held)
}, 600_000)

test('after a clean stop with events that ClickHouse does not have it holds the others back', async () => {
  await toClickHouse.refuse()
  const id = await send()
  await leaving.end('SIGTERM')
  await expectHeldBack()
  expect(await storedAt(id)).toEqual([])
  const told = await completeUntil()
  await toClickHouse.accept()
  leaving = await startLeaving()
  const [at] = await waitFor('the event', async () => {
    const found = await storedAt(id)
    return found.length > 0 ? found : null
  })
  expect(at).toBeGreaterThanOrEqual(told)
}, 600_000)

test('one that was released starts only with PostgreSQL, which knows how far readers have read', async () => {
  await leaving.end('SIGTERM')
  expect(await isReleased()).toBe(true)
  await toPostgres.refuse()
  const port = await freePort()
  const starting = startService({
    env: { ...leavingEnv(), PORT: String(port) },
    dataDir: join(directory, 'leaving'),
  })
  const answer = await waitFor('an answer', () =>
    fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null),
  )
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
    503,
    expect.stringContaining('PostgreSQL'),
  ])
  const told = await completeUntil()
  await toPostgres.accept()
  leaving = await starting
  expect(await markOf('leaving')).toBeGreaterThanOrEqual(told)
}, 600_000)
