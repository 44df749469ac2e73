import { expect, inject, test } from 'vitest'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import {
  migrationNames as clickhouseMigrations,
  makeTablesOf as makeClickHouseTables,
  migrateClickHouse,
} from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import {
  makeTablesOf,
  migratePostgres,
  migrationNames,
} from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { companyFields, eventColumns, type Field, profileFields } from '../../schemas/fields.ts'
import { newEmptyPostgresDatabase, randomName } from '../harness/databases.ts'

test('ClickHouse migrations run twice, and by two processes at once', async () => {
  const database = randomName()
  await Promise.all([1, 2, 3].map(() => migrateClickHouse(inject('clickhouseUrl'), database)))
  await migrateClickHouse(inject('clickhouseUrl'), database)
})

const columnsOf = (clickhouse: ClickHouse, table: string) =>
  clickhouse.rows<{ name: string; type: string; default_kind: string }>({
    sql: `SELECT name, type, default_kind FROM system.columns
          WHERE database = currentDatabase() AND table = {table:String}`,
    params: { table },
  })

test.each([
  ['events', eventColumns, ['organization_id', 'spool_id', 'seq']],
  ['profiles', profileFields, ['hem', 'updated_at']],
  ['companies', companyFields, ['updated_at']],
])(
  'the table %s has the columns of the field table, with their types',
  async (table, fields, internal) => {
    const database = randomName()
    await migrateClickHouse(inject('clickhouseUrl'), database)
    const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
    const columns = await columnsOf(clickhouse, table)
    // A company has its domain: it is its key.
    const typeOf = ({ name, columnType }: Field) =>
      table === 'companies' && name === 'company_domain'
        ? 'String'
        : columnType.replace(/ (CODEC|DEFAULT).*/, '')
    expect(
      columns
        .filter(({ name }) => !internal.includes(name))
        .map(({ name, type }) => `${name} ${type}`)
        .sort(),
    ).toEqual(fields.map((field) => `${field.name} ${typeOf(field)}`).sort())
    expect(
      columns.filter(({ default_kind }) => default_kind === 'ALIAS').map(({ name }) => name),
    ).toEqual(fields.filter(({ alias }) => alias).map(({ name }) => name))
    await clickhouse.close()
  },
)

test('a field that the table lacks is added at the next start', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.command({ sql: 'ALTER TABLE events DROP COLUMN os_version', params: {} })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.rows({ sql: 'SELECT os_version FROM events', params: {} })
  await clickhouse.close()
})

test('of events that an older release stored, what is computed is read as of new ones, the rest is null', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  for (const name of ['utm_source', 'referrer_host', 'country', 'screen_width'])
    await clickhouse.command({ sql: `ALTER TABLE events DROP COLUMN ${name}`, params: {} })
  await clickhouse.command({
    sql: `INSERT INTO events (page_url, referrer_url) VALUES ('https://a.example/?utm_source=b', 'https://C.example/d')`,
    params: {},
  })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  expect(
    await clickhouse.rows({
      sql: 'SELECT utm_source, referrer_host, country, screen_width FROM events',
      params: {},
    }),
  ).toEqual([{ utm_source: 'b', referrer_host: 'c.example', country: null, screen_width: null }])
  await clickhouse.close()
})

test('a computed column whose expression is another now is mended at the next start', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const resolved = async () =>
    (
      await clickhouse.rows<{ expression: string; modified: string }>({
        sql: `SELECT default_expression AS expression FROM system.columns
              WHERE database = currentDatabase() AND table = 'events' AND name = 'resolved'`,
        params: {},
      })
    )[0]!.expression
  const right = await resolved()
  await clickhouse.command({
    sql: 'ALTER TABLE events MODIFY COLUMN resolved Nullable(Bool) ALIAS false',
    params: {},
  })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  expect(await resolved()).toBe(right)
  await clickhouse.close()
})

test('a store of an earlier version gets the later migrations, each once', async () => {
  const database = randomName()
  const address = inject('clickhouseUrl')
  const inClickHouse = clickhouseMigrations()
  await makeClickHouseTables(address, database, inClickHouse.slice(0, -1))
  await migrateClickHouse(address, database)
  const clickhouse = openClickHouse(address, database)
  const sql = 'SELECT name FROM migrations ORDER BY name'
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
  expect(names(await clickhouse.rows({ sql, params: {} }))).toEqual(inClickHouse)
  await clickhouse.close()

  const pool = openPostgres(await newEmptyPostgresDatabase(), () => {})
  const inPostgres = migrationNames()
  const client = await pool.connect()
  await makeTablesOf(client, inPostgres.slice(0, -1))
  client.release()
  await migratePostgres(pool)
  expect(names((await pool.query(sql)).rows)).toEqual(inPostgres)
  await pool.end()
})

test('PostgreSQL migrations run twice, and by two processes at once', async () => {
  const pool = openPostgres(await newEmptyPostgresDatabase(), () => {})
  await Promise.all([1, 2, 3].map(() => migratePostgres(pool)))
  await migratePostgres(pool)
  const { rows } = await pool.query(
    'SELECT count(*)::int AS times, name FROM migrations GROUP BY name',
  )
  expect(rows.every(({ times }) => times === 1)).toBe(true)
  await pool.end()
})

test.each([
  ['after the newest migration', '999_future.sql'],
  // Versions of branches add numbers below those of others.
  ['between the migrations', '188_unknown.sql', '152_unknown.sql'],
  [
    'the same file with other statements',
    '001_collection.sql@000000000000',
    '001_organizations.sql@000000000000',
  ],
])(
  'a store that another version has migrated is refused, by name: %s',
  async (_, inClickHouse, inPostgres = inClickHouse) => {
    const refusal = (store: string, name: string) =>
      `another version of Footfall has migrated ${store} (${name}); run that version`
    const database = randomName()
    await migrateClickHouse(inject('clickhouseUrl'), database)
    const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
    await clickhouse.command({
      sql: 'INSERT INTO migrations (name) VALUES ({name:String})',
      params: { name: inClickHouse },
    })
    await clickhouse.close()
    await expect(migrateClickHouse(inject('clickhouseUrl'), database)).rejects.toThrow(
      refusal('ClickHouse', inClickHouse),
    )

    const postgres = openPostgres(await newEmptyPostgresDatabase(), () => {})
    await migratePostgres(postgres)
    await postgres.query('INSERT INTO migrations (name) VALUES ($1)', [inPostgres])
    await expect(migratePostgres(postgres)).rejects.toThrow(refusal('PostgreSQL', inPostgres))
    await postgres.end()
  },
)
