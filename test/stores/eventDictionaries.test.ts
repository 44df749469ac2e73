/** Texts of events become LowCardinality when an installation is upgraded. Rows, answers and backups stay the same. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openDirectoryStore } from '../../collector/ops/backup/directoryStore.ts'
import { exportSnapshots } from '../../collector/ops/backup/exportSnapshots.ts'
import type { ClickHouseManifest } from '../../collector/ops/backup/manifest.ts'
import { type ObjectStore, ObjectWriter } from '../../collector/ops/backup/objectStore.ts'
import { restoreClickHouse } from '../../collector/ops/backup/restoreClickHouse.ts'
import { withShardServers } from '../../collector/ops/backup/shardServers.ts'
import { dropSnapshots, takeSnapshots } from '../../collector/ops/backup/snapshotClickHouse.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { testDatabaseOf } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateClickHouse, migrationNames } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { randomName } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'

const migration = '188_event_dictionaries.sql'
const texts = ['user_agent', 'referrer_url', 'page_url', 'page_path']
const url = inject('clickhouseUrl')

const run = (clickhouse: ClickHouse, sql: string) => clickhouse.command({ sql, params: {} })

/** Opens new databases of live events and of test keys, which are dropped when the test ends. */
function newDatabase(): ClickHouse {
  const clickhouse = openClickHouse(url, randomName())
  onTestFinished(async () => {
    await clickhouse.close()
    const server = openClickHouse(url, 'default')
    for (const name of [clickhouse.database, testDatabaseOf(clickhouse.database)])
      await run(server, `DROP DATABASE IF EXISTS ${name} SYNC`)
    await server.close()
  })
  return clickhouse
}

async function migrate({ database }: ClickHouse): Promise<void> {
  for (const name of [database, testDatabaseOf(database)]) await migrateClickHouse(url, name)
}

/** Makes a database as the version before the migration had it. */
async function beforeMigration(): Promise<ClickHouse> {
  const clickhouse = newDatabase()
  await migrate(clickhouse)
  const changes = texts.map((name) => `MODIFY COLUMN ${name} Nullable(String) CODEC(ZSTD(1))`)
  for (const name of [clickhouse.database, testDatabaseOf(clickhouse.database)]) {
    await run(clickhouse, `ALTER TABLE ${name}.events ${changes.join(', ')}`)
    await run(
      clickhouse,
      `ALTER TABLE ${name}.migrations DELETE WHERE name = '${migration}' SETTINGS mutations_sync = 2`,
    )
  }
  return clickhouse
}

/** Inserts events with null, empty, repeated and unique texts. `wide`: into a part with a file for each column. */
async function insertEvents(clickhouse: ClickHouse, first: number, wide: boolean): Promise<void> {
  await run(
    clickhouse,
    `ALTER TABLE events MODIFY SETTING min_bytes_for_wide_part = ${wide ? 0 : 1_000_000_000}`,
  )
  await run(
    clickhouse,
    `INSERT INTO events (project_id, ts_millis, event_id, user_agent, referrer_url, page_url, page_path)
     SELECT toUUID('22222222-2222-4222-8222-222222222222'), number, reinterpretAsUUID(number + 1),
       if(number % 5 = 0, NULL, 'Agent ' || toString(number % 3)),
       if(number % 2 = 0, '', concat('https://b.example/é"\\n\\x02🦊', toString(number))),
       if(number % 7 = 0, NULL, concat('https://a.example/p?utm_source=s', toString(number))),
       if(number % 3 = 0, NULL, '/p')
     FROM numbers(${first}, 10000)`,
  )
}

const formats = ['JSONEachRow', 'CSVWithNames', 'ArrowStream', 'Parquet'] as const

/** Returns a hash of all events in each format of answers. */
const answersOf = (clickhouse: ClickHouse): Promise<string[]> =>
  Promise.all(
    formats.map(async (format) => {
      const sql = 'SELECT * FROM events ORDER BY event_id'
      const { body } = await clickhouse.stream({ sql, params: {}, lists: {} }, format)
      return createHash('sha256')
        .update(await buffer(body))
        .digest('hex')
    }),
  )

const typesOf = async (clickhouse: ClickHouse): Promise<string[]> =>
  (
    await clickhouse.rows<{ type: string }>({
      sql: `SELECT DISTINCT type FROM system.columns
            WHERE database = currentDatabase() AND table = 'events' AND name IN {texts:Array(String)}`,
      params: { texts },
    })
  ).map(({ type }) => type)

/** Writes a backup of both databases as a command does, and returns its part of the manifest. */
const backUp = (
  { database }: ClickHouse,
  store: ObjectStore,
  migrations: string[],
): Promise<ClickHouseManifest> =>
  withShardServers(url, database, async (servers) => {
    const writer = new ObjectWriter(store, await store.list('objects'))
    const tables = await exportSnapshots(await takeSnapshots(servers, url), writer)
    await dropSnapshots(servers)
    return { shards: 1, migrations: { live: migrations, test: migrations }, tables }
  })

test('the texts of stored events become dictionaries, and answers and backups keep every byte', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-dictionaries-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const store = openDirectoryStore(directory)
  const clickhouse = await beforeMigration()
  await insertEvents(clickhouse, 0, true)
  await insertEvents(clickhouse, 10_000, false)
  expect(await typesOf(clickhouse)).toEqual(['Nullable(String)'])
  const before = await answersOf(clickhouse)
  expect(new Set(before).size).toBe(formats.length)
  const earlier = migrationNames().filter((name) => name !== migration)
  const backups = [await backUp(clickhouse, store, earlier)]

  // Earlier parts are still there, and a start does not wait for their change.
  await run(clickhouse, 'SYSTEM STOP MERGES events')
  await migrate(clickhouse)
  expect(await typesOf(clickhouse)).toEqual(['LowCardinality(Nullable(String))'])
  expect(await answersOf(clickhouse)).toEqual(before)
  backups.push(await backUp(clickhouse, store, migrationNames()))

  await run(clickhouse, 'SYSTEM START MERGES events')
  await waitFor('the changed parts', async () => {
    const [left] = await clickhouse.rows<{ parts: number }>({
      sql: `SELECT toUInt32(count()) AS parts FROM system.parts_columns
            WHERE database = currentDatabase() AND table = 'events' AND active
              AND column IN {texts:Array(String)} AND NOT startsWith(type, 'LowCardinality')`,
      params: { texts },
    })
    return left!.parts === 0
  })
  expect(await answersOf(clickhouse)).toEqual(before)
  backups.push(await backUp(clickhouse, store, migrationNames()))

  for (const backup of backups) {
    const restored = newDatabase()
    await restoreClickHouse(store, backup, { address: url, database: restored.database })
    expect(await typesOf(restored)).toEqual(['LowCardinality(Nullable(String))'])
    expect(await answersOf(restored)).toEqual(before)
  }
})
