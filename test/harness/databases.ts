import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { testDatabaseOf } from '../../collector/platform/clickhouse/cluster.ts'
import { saveDictionaryLogin } from '../../collector/platform/clickhouse/login.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { countOpening } from './usage.ts'

/** Names a database of a test's own. */
export const randomName = () => `test_${randomBytes(6).toString('hex')}`

/** The database of a run that has had all migrations and is never written to: others are copies of it. In both stores. */
export const migratedDatabase = 'footfall_migrated'

/** Makes a database in the PostgreSQL at `serverUrl`, as a copy of another or empty, and returns its address. */
export async function createPostgresDatabase(
  serverUrl: string,
  name: string,
  template = 'template0',
): Promise<string> {
  const url = new URL(serverUrl)
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  await client.end()
  url.pathname = `/${name}`
  return url.href
}

/** Makes a database of its own in the run's PostgreSQL, with all tables in it, and returns its address. */
export const newPostgresDatabase = (): Promise<string> => newDatabase(migratedDatabase)

/** The same, for what outlives the file. */
export const newKeptPostgresDatabase = (): Promise<string> =>
  createPostgresDatabase(inject('postgresUrl'), randomName(), migratedDatabase)

/** The same without any tables. */
export const newEmptyPostgresDatabase = (): Promise<string> => newDatabase()

function newDatabase(template?: string): Promise<string> {
  const name = randomName()
  made.postgres.push(name)
  countOpening('databases')
  return createPostgresDatabase(inject('postgresUrl'), name, template)
}

/**
 * Makes a database of its own in the run's ClickHouse, with all tables in it, and returns its name. A copy takes a fifth
 * of what migrations take.
 */
export async function newClickHouseDatabase(name = randomName()): Promise<string> {
  made.clickhouse.push(name)
  countOpening('databases')
  await copyMigrated(name)
  return name
}

/** The same, for what outlives the file. */
export async function newKeptClickHouseDatabase(): Promise<string> {
  const name = randomName()
  await copyMigrated(name)
  return name
}

/** The two databases of a service: live, and that of test keys. */
export async function newServiceDatabases(): Promise<string> {
  const name = randomName()
  await Promise.all([name, testDatabaseOf(name)].map(newClickHouseDatabase))
  return name
}

/** Of the test file that runs. */
const made = { clickhouse: [] as string[], postgres: [] as string[] }

/** Drops the databases of a file's tests, because both servers keep working on existing ones. */
export async function dropDatabases(): Promise<void> {
  const [inClickHouse, inPostgres] = [made.clickhouse.splice(0), made.postgres.splice(0)]
  if (inClickHouse.length > 0) {
    const server = openClickHouse(inject('clickhouseUrl'), 'default')
    for (const name of inClickHouse)
      await server.command({ sql: `DROP DATABASE IF EXISTS ${name}`, params: {} })
    await server.close()
  }
  if (inPostgres.length > 0) {
    const client = new pg.Client({ connectionString: inject('postgresUrl') })
    await client.connect()
    // One that somebody is still connected to stays until the run ends.
    for (const name of inPostgres)
      await client.query(`DROP DATABASE IF EXISTS ${name}`).catch(() => {})
    await client.end()
  }
}

async function copyMigrated(name: string): Promise<void> {
  const url = inject('clickhouseUrl')
  const server = openClickHouse(url, 'default')
  await server.command({ sql: `CREATE DATABASE ${name}`, params: {} })
  await server.close()
  const clickhouse = openClickHouse(url, name)
  await saveDictionaryLogin(clickhouse, url)
  for (const statement of inject('clickhouseTables'))
    await clickhouse.command({ sql: statement.replaceAll(migratedDatabase, name), params: {} })
  // All that a migrated database has rows in.
  for (const table of ['migrations', 'intent_topics']) {
    const copy = `INSERT INTO ${table} SELECT * FROM ${migratedDatabase}.${table}`
    await clickhouse.command({ sql: copy, params: {} })
  }
  await clickhouse.close()
}

/** The settings of a service with databases of its own in the run's stores, and with the demo. */
export const ownDatabases = async (): Promise<Record<string, string>> => ({
  DATABASE_URL: await newPostgresDatabase(),
  CLICKHOUSE_URL: inject('clickhouseUrl'),
  CLICKHOUSE_DATABASE: await newServiceDatabases(),
  FOOTFALL_DEMO: 'true',
  // Figures must not change while a test compares them.
  FOOTFALL_DEMO_VISITS: 'false',
})

/** The same, for a service that outlives the file. */
export async function keptDatabases(): Promise<Record<string, string>> {
  const databases = await ownDatabases()
  countOpening('databases', -3)
  const { CLICKHOUSE_DATABASE: clickhouse, DATABASE_URL: postgres } = databases
  made.clickhouse = made.clickhouse.filter((name) => !name.startsWith(clickhouse!))
  made.postgres = made.postgres.filter((name) => !postgres!.endsWith(name))
  return databases
}
