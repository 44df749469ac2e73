import { expect, inject, test } from 'vitest'
import { openClickHouse } from '../../collector/clickhouse/client.ts'
import { migrateClickHouse } from '../../collector/clickhouse/migrate.ts'
import { migratePostgres } from '../../collector/postgres/migrate.ts'
import { openPostgres } from '../../collector/postgres/pool.ts'
import { eventColumns } from '../../schemas/fields.ts'
import { newPostgresDatabase, randomName } from '../harness/databases.ts'

test('ClickHouse migrations run twice, and by two processes at once', async () => {
  const database = randomName()
  await Promise.all([1, 2, 3].map(() => migrateClickHouse(inject('clickhouseUrl'), database)))
  await migrateClickHouse(inject('clickhouseUrl'), database)
})

test('the events table has the columns of the field table, with their types', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const columns = await clickhouse.rows<{ name: string; type: string; default_kind: string }>({
    sql: "SELECT name, type, default_kind FROM system.columns WHERE database = {database:String} AND table = 'events'",
    params: { database },
  })
  const internal = ['organization_id', 'spool_id', 'seq']
  expect(
    columns.filter(({ name }) => !internal.includes(name)).map(({ name, type }) => `${name} ${type}`),
  ).toEqual(
    eventColumns.map(({ name, columnType }) => `${name} ${columnType.replace(/ (CODEC|DEFAULT).*/, '')}`),
  )
  expect(columns.filter(({ default_kind }) => default_kind === 'ALIAS').map(({ name }) => name)).toEqual(
    eventColumns.filter(({ alias }) => alias).map(({ name }) => name),
  )
  expect(
    eventColumns.filter(({ columnType, nullable }) => columnType.includes('Nullable') !== nullable),
  ).toEqual([])
  await clickhouse.close()
})

test('a field that the table lacks is added at the next start', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.command({ sql: 'ALTER TABLE events DROP COLUMN os_version', params: {} })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.rows({ sql: 'SELECT os_version FROM events', params: {} })
  await clickhouse.close()
})

test('PostgreSQL migrations run twice, and by two processes at once', async () => {
  const pool = openPostgres(await newPostgresDatabase(), () => {})
  await Promise.all([1, 2, 3].map(() => migratePostgres(pool)))
  await migratePostgres(pool)
  const { rows } = await pool.query('SELECT count(*)::int AS times, name FROM migrations GROUP BY name')
  expect(rows.every(({ times }) => times === 1)).toBe(true)
  await pool.end()
})
