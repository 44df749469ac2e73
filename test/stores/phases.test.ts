/** The phases of a start (collector/main.ts), each by itself. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Config, readConfig } from '../../collector/config.ts'
import { lockDataDirectory } from '../../collector/ops/processes/dataDirectory.ts'
import { migrateStores } from '../../collector/ops/processes/prepareStores.ts'
import { createStarted } from '../../collector/ops/processes/started.ts'
import { startStores } from '../../collector/ops/processes/startStores.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { openLog } from '../../collector/platform/log.ts'
import { markDirectory } from '../../collector/platform/restoreMark.ts'
import { readStoreNotes } from '../../collector/platform/stores/storeNotes.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { startPostgresProxy } from '../harness/postgresProxy.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-phases-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const settings = async (name: string, env: Record<string, string>): Promise<Config> =>
  readConfig({
    LOG_LEVEL: 'silent',
    PORT: String(await freePort()),
    FOOTFALL_DATA_DIR: join(directory, name),
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: await newServiceDatabases(),
    ...env,
  })

const failed = (error: Error) => {
  throw error
}

test('lock: a data directory has one owner, and half a restore has none', async () => {
  const dataDir = join(directory, 'lock')
  const lock = await lockDataDirectory(dataDir)
  await expect(lockDataDirectory(dataDir)).rejects.toThrow('is in use by another Footfall process')
  await lock.release()
  markDirectory(dataDir, 'somewhere')
  await expect(lockDataDirectory(dataDir)).rejects.toThrow('did not finish')
  writeFileSync(join(directory, 'file'), '')
  await expect(lockDataDirectory(join(directory, 'file'))).rejects.toThrow(
    'cannot write to FOOTFALL_DATA_DIR',
  )
})

test('migrate: while PostgreSQL is away the port says so, and the start goes on when it is back', async () => {
  const proxy = await startPostgresProxy(await newPostgresDatabase(), 'nothing is lost')
  await proxy.refuse()
  const config = await settings('away', { DATABASE_URL: proxy.url })
  await lockDataDirectory(config.dataDir).then((lock) => lock.release())
  const log = openLog(config)
  const stores = await startStores(config, log)
  expect(readStoreNotes(config.dataDir)).toMatchObject({ postgres_url: proxy.url })
  const migration = migrateStores(config, stores, { collectorId: crypto.randomUUID(), log, failed })
  const prepared = migration.postgres()
  const readiness = () => fetch(`${config.localUrl}/readyz`).catch(() => null)
  await expect.poll(async () => (await readiness())?.status).toBe(503)
  expect(await (await readiness())!.json()).toMatchObject({
    message: 'PostgreSQL cannot be reached',
  })

  await proxy.accept()
  const { connections, receivedFrom } = await prepared
  expect(connections).toBeGreaterThan(0)
  expect(receivedFrom).toBeGreaterThan(Date.now() - 60_000)
  await migration.clickhouse()
  await migration.leavePort()
  expect(await readiness()).toBeNull()
  await stores.close()
  await proxy.refuse()
})

test('migrate: a machine that only takes beacons starts with what it kept, and the first time waits', async () => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`
  const config = await settings('kept', { DATABASE_URL: url, FOOTFALL_ROLE: 'ingest' })
  await lockDataDirectory(config.dataDir).then((lock) => lock.release())
  const log = openLog(config)
  const stores = await startStores(config, log)
  // Once its pool is closed PostgreSQL can no longer be waited for.
  const migration = migrateStores(config, stores, {
    collectorId: crypto.randomUUID(),
    log,
    failed: () => {},
  })
  const kept = { connections: 7, receivedFrom: 1_700_000_000_000 }
  migration.postgres().catch(() => {})
  await expect
    .poll(() =>
      fetch(`${config.localUrl}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(503)
  await migration.leavePort()

  migration.keep(kept)
  expect(await migration.postgres()).toEqual(kept)
  await stores.close()
})

test('stop: what was started last stops first, and each once', async () => {
  const started = createStarted()
  const stopped: string[] = []
  for (const name of ['lock', 'stores', 'workers']) {
    started.add(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      stopped.push(name)
    })
  }
  await started.stop()
  await started.stop()
  expect(stopped).toEqual(['workers', 'stores', 'lock'])
})
