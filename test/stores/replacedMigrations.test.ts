/** The base makes the schema of the migrations that it replaced, and installations made by these are upgraded. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openDirectoryStore } from '../../collector/ops/backup/directoryStore.ts'
import { dumpPostgres, inSnapshot } from '../../collector/ops/backup/dumpPostgres.ts'
import { ObjectWriter } from '../../collector/ops/backup/objectStore.ts'
import { loadPostgres } from '../../collector/ops/backup/restorePostgres.ts'
import { base as clickhouseBase } from '../../collector/platform/clickhouse/baseMigrations.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import type { Cluster } from '../../collector/platform/clickhouse/cluster.ts'
import {
  makeDatabase,
  migrateClickHouse,
  migrationStatements,
  migrationNames as migrationsOfClickHouse,
} from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { base as postgresBase } from '../../collector/platform/postgres/baseMigrations.ts'
import {
  makeTablesOf,
  migratePostgres,
  migrationNames as migrationsOfPostgres,
  requireUpgradable,
} from '../../collector/platform/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { inTransaction } from '../../collector/platform/postgres/transaction.ts'
import { StartError } from '../../collector/platform/startError.ts'
import { newEmptyPostgresDatabase, randomName } from '../harness/databases.ts'
import { clickhouseSchema, postgresRows, postgresSchema } from './replaced/catalog.ts'
import { installClickHouse, installPostgres, replacedStatements } from './replaced/install.ts'

async function emptyPostgres(): Promise<Postgres> {
  const postgres = openPostgres(await newEmptyPostgresDatabase(), () => {})
  onTestFinished(() => postgres.end())
  return postgres
}

async function emptyClickHouse(): Promise<ClickHouse> {
  const [url, database] = [inject('clickhouseUrl'), randomName()]
  await makeDatabase(url, database)
  const clickhouse = openClickHouse(url, database)
  onTestFinished(() => clickhouse.close())
  return clickhouse
}

/** A database that this version alone has migrated. */
async function freshPostgres(): Promise<Postgres> {
  const postgres = await emptyPostgres()
  await migratePostgres(postgres)
  return postgres
}

async function freshClickHouse(): Promise<ClickHouse> {
  const clickhouse = await emptyClickHouse()
  await migrateClickHouse(inject('clickhouseUrl'), clickhouse.database)
  return clickhouse
}

/** Rows that every installation has, in tables whose columns several migrations added. */
async function fill(postgres: Postgres): Promise<void> {
  const [organization, project, user] = [randomUUID(), randomUUID(), randomUUID()]
  await postgres.query("INSERT INTO organizations VALUES ($1, 'Old')", [organization])
  await postgres.query("INSERT INTO users (user_id, email, password_hash) VALUES ($1, 'a', 'b')", [
    user,
  ])
  await postgres.query(
    `INSERT INTO members (member_id, organization_id, email, role, user_id)
     VALUES (gen_random_uuid(), $1, 'a', 'owner', $2)`,
    [organization, user],
  )
  await postgres.query("INSERT INTO projects VALUES ($1, $2, 'P')", [project, organization])
  await postgres.query(
    `INSERT INTO audit_log (organization_id, actor, action, object_kind, object_id)
     VALUES ($1, '{}', 'c', 'd', 'e'), ($1, '{}', 'f', 'g', 'h')`,
    [organization],
  )
  await postgres.query('UPDATE ship_turns SET turn = 7')
}

const recordedBy = async (postgres: Postgres): Promise<string[]> =>
  (await postgres.query('SELECT name FROM migrations ORDER BY 1')).rows.map(({ name }) => name)

const laterOf = (names: readonly string[], base: readonly string[]) =>
  names.filter((name) => !base.includes(name))
const laterInPostgres = laterOf(migrationsOfPostgres(), postgresBase.names)
const laterInClickHouse = laterOf(migrationsOfClickHouse(), clickhouseBase.names)

/** Runs and records migrations that follow the base, as the commit of the replaced ones did. */
async function applyLater(postgres: Postgres, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = `collector/platform/postgres/migrations/${name}`
    await postgres.query(readFileSync(join(packageRoot, path), 'utf8'))
    await postgres.query('INSERT INTO migrations (name) VALUES ($1)', [name])
  }
}

test('PostgreSQL: tables, sequences, views, rows and triggers equal those that the replaced migrations made', async () => {
  const [old, own, fresh] = [await emptyPostgres(), await emptyPostgres(), await freshPostgres()]
  expect(await installPostgres(old)).toEqual(postgresBase.replaced)
  await inTransaction(own, (client) => makeTablesOf(client, postgresBase.names))

  // Functions and their triggers have files of their own.
  const { functions: _, triggers, ...made } = await postgresSchema(old)
  expect(made.columns!.length).toBeGreaterThan(400)
  expect(await postgresSchema(own)).toMatchObject(made)
  expect(await postgresRows(own)).toEqual(await postgresRows(old))
  expect(triggers).toHaveLength(4)
  expect((await postgresSchema(fresh)).triggers).toEqual(expect.arrayContaining(triggers!))
})

const parsed = (row: string): object => JSON.parse(row)

test.each([
  ['has none of the later migrations', []],
  ['has all later migrations of its commit', laterInPostgres.filter((name) => name < '153')],
])(
  'PostgreSQL: an installation that %s is upgraded, and then equals a new one',
  async (_, later) => {
    const [old, fresh] = [await emptyPostgres(), await freshPostgres()]
    await installPostgres(old)
    await applyLater(old, later)
    await fill(old)
    const before = await postgresRows(old)
    await Promise.all([migratePostgres(old), migratePostgres(old)])

    const { sequences: _sequences, ...schema } = await postgresSchema(fresh)
    expect(await postgresSchema(old)).toMatchObject(schema)
    expect(await recordedBy(old)).toEqual(
      [...postgresBase.replaced, ...migrationsOfPostgres()].sort(),
    )
    const after = await postgresRows(old)
    // Later migrations may have added columns.
    for (const name of ['users', 'members', 'audit_log', 'ship_turns'])
      expect(after[name]!.map(parsed)).toMatchObject(before[name]!.map(parsed))
    await migratePostgres(old)
  },
)

test('PostgreSQL: an installation that lacks some of the replaced migrations is refused, and left as it is', async () => {
  const old = await emptyPostgres()
  await installPostgres(old, (name) => name < '144')
  const before = await postgresSchema(old)
  const refused = migratePostgres(old)
  await expect(refused).rejects.toThrow(StartError)
  await expect(refused).rejects.toThrow(
    'PostgreSQL was last migrated by a version of Footfall that is too old to upgrade from (it lacks 144_rows_added.sql, 145_clickhouse_shards.sql). First run npx footfall migrate of commit bb76fd97, then this version',
  )
  expect(await postgresSchema(old)).toEqual(before)
})

test.each([
  ['an older commit', []],
  ['the last commit', laterInPostgres.filter((name) => name < '153')],
])('PostgreSQL: a backup by %s before the base is restored', async (_, later) => {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-replaced-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const [old, restored, fresh] = [
    await emptyPostgres(),
    await emptyPostgres(),
    await freshPostgres(),
  ]
  await installPostgres(old)
  await applyLater(old, later)
  await fill(old)
  const store = openDirectoryStore(directory)
  const dump = await inSnapshot(old, (snapshot) =>
    dumpPostgres(snapshot, new ObjectWriter(store, new Map())),
  )
  expect(dump.migrations).toEqual([...postgresBase.replaced, ...later])

  await loadPostgres(restored, dump, store)
  await migratePostgres(old)
  expect(await postgresRows(restored)).toEqual(await postgresRows(old))
  expect(await postgresSchema(restored)).toEqual(await postgresSchema(old))
  expect(await recordedBy(restored)).toEqual(await recordedBy(fresh))
})

test('PostgreSQL: a backup that lacks some of the replaced migrations is refused before the first row', () => {
  const some = postgresBase.replaced.slice(0, -1)
  expect(() => requireUpgradable(some)).toThrow(
    /too old to upgrade from \(it lacks 145_clickhouse_shards\.sql\)/,
  )
})

test.each([
  ['has none of the later migrations', []],
  ['has all later migrations of its commit', laterInClickHouse.filter((name) => name < '186')],
])(
  'ClickHouse: an installation that %s is upgraded, and then equals a new one',
  async (_, later) => {
    const url = inject('clickhouseUrl')
    const [old, fresh] = [await emptyClickHouse(), await freshClickHouse()]
    await installClickHouse(old, url, 0)
    for (const name of later) {
      for (const sql of migrationStatements(name, url, 0)) await old.command({ sql, params: {} })
      await old.command({ sql: `INSERT INTO migrations (name) VALUES ('${name}')`, params: {} })
    }
    const made = await clickhouseSchema(old)
    await Promise.all([migrateClickHouse(url, old.database), migrateClickHouse(url, old.database)])

    const upgraded = await clickhouseSchema(old)
    expect(Object.keys(upgraded).length).toBeGreaterThan(30)
    expect(upgraded).toEqual(await clickhouseSchema(fresh))
    // The upgrade itself replaced no table.
    expect(upgraded.identity_links).toBe(made.identity_links)
    const recorded = await old.rows<{ name: string }>({
      sql: 'SELECT DISTINCT name FROM migrations ORDER BY 1',
      params: {},
    })
    expect(recorded.map(({ name }) => name)).toEqual(
      [...clickhouseBase.replaced, ...migrationsOfClickHouse()].sort(),
    )
    await migrateClickHouse(url, old.database)
  },
)

test('ClickHouse: an installation that lacks some of the replaced migrations is refused, and left as it is', async () => {
  const old = await emptyClickHouse()
  await installClickHouse(old, inject('clickhouseUrl'), 0)
  await old.command({
    sql: "ALTER TABLE migrations DELETE WHERE name = '175_events_by_hour.sql' SETTINGS mutations_sync = 1",
    params: {},
  })
  const before = await clickhouseSchema(old)
  const refused = migrateClickHouse(inject('clickhouseUrl'), old.database)
  await expect(refused).rejects.toThrow(StartError)
  await expect(refused).rejects.toThrow(
    /^ClickHouse was last .* too old to upgrade from \(it lacks 175_events_by_hour\.sql\). First run /,
  )
  expect(await clickhouseSchema(old)).toEqual(before)
})

const replicas = ['a', 'b']
const clusters: [string, Cluster][] = [
  ['one shard', { name: 'footfall', shards: [replicas] }],
  ['several shards', { name: 'footfall', shards: [replicas, ['c', 'd']] }],
]
test.each(clusters)(
  'ClickHouse: replicas of %s find each other in Keeper where the replaced migrations put their tables',
  (_, cluster) => {
    const pathsOf = (statements: readonly string[]) => {
      const made =
        /^CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?(\w+)[\s\S]*?MergeTree\('([^']+)'/
      return Object.fromEntries(
        statements.flatMap((sql) => {
          const [, table, path] = made.exec(sql) ?? []
          return table ? [[table, path]] : []
        }),
      )
    }
    for (const shard of cluster.shards.keys()) {
      const ours = pathsOf(
        clickhouseBase.names.flatMap((name) => migrationStatements(name, cluster, shard)),
      )
      expect(Object.keys(ours)).toHaveLength(shard === 0 ? 24 : 1)
      expect(ours).toEqual(
        pathsOf(replacedStatements(cluster, shard).flatMap(({ statements }) => statements)),
      )
    }
  },
)
