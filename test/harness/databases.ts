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
 * Returns the name of an empty database in the run's ClickHouse, with all tables in it. An earlier file of this worker may
 * have used it.
 */
export async function newClickHouseDatabase(): Promise<string> {
  const name = emptied.pop() ?? (await createClickHouseDatabase(randomName()))
  lent.push(name)
  return name
}

/** Makes a database with all tables in it. A copy takes a fifth of what migrations take. */
async function createClickHouseDatabase(name: string): Promise<string> {
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
  const both = [name, testDatabaseOf(name)]
  made.clickhouse.push(...both)
  await Promise.all(both.map(createClickHouseDatabase))
  return name
}

/** Of the test file that runs. */
const made = { clickhouse: [] as string[], postgres: [] as string[] }
/** Those of the file that `newClickHouseDatabase` returned, and those that the next file may have. */
const [lent, emptied]: [string[], string[]] = [[], []]

/** Drops or empties the databases of a file's tests, because both servers keep working on existing ones. */
export async function dropDatabases(): Promise<void> {
  for (const name of lent.splice(0)) {
    const isEmpty = await emptyDatabase(name)
    ;(isEmpty ? emptied : made.clickhouse).push(name)
  }
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

/** The tables that have rows in a migrated database. */
const filled = ['migrations', 'intent_topics']

async function copyMigrated(name: string): Promise<void> {
  const url = inject('clickhouseUrl')
  const server = openClickHouse(url, 'default')
  await server.command({ sql: `CREATE DATABASE ${name}`, params: {} })
  await server.close()
  const clickhouse = openClickHouse(url, name)
  await saveDictionaryLogin(clickhouse, url)
  for (const statement of inject('clickhouseTables'))
    await clickhouse.command({ sql: statement.replaceAll(migratedDatabase, name), params: {} })
  for (const table of filled) {
    const copy = `INSERT INTO ${table} SELECT * FROM ${migratedDatabase}.${table}`
    await clickhouse.command({ sql: copy, params: {} })
  }
  await clickhouse.close()
}

/**
 * Makes a database as it was when it was new, and returns true. Returns false if a test changed its tables or topics, or
 * put parts aside.
 */
async function emptyDatabase(name: string): Promise<boolean> {
  const clickhouse = openClickHouse(inject('clickhouseUrl'), name)
  try {
    const tables = await clickhouse.rows<{ name: string; statement: string; parts: number }>({
      sql: `SELECT name, create_table_query AS statement, ifNull(parts, 0) AS parts
            FROM system.tables WHERE database = currentDatabase()`,
      params: {},
    })
    const topics = (of: string) => `(SELECT groupBitXor(cityHash64(*)) FROM ${of}.intent_topics)`
    const [other] = await clickhouse.rows({
      sql: `SELECT 1 FROM system.detached_parts WHERE database = currentDatabase()
            UNION ALL SELECT 1 WHERE ${topics(name)} != ${topics(migratedDatabase)}`,
      params: {},
    })
    const expected = new Set(
      inject('clickhouseTables').map((statement) => statement.replaceAll(migratedDatabase, name)),
    )
    const isChanged =
      tables.length !== expected.size || tables.some(({ statement }) => !expected.has(statement))
    if (other || isChanged) return false
    for (const { name: table, parts } of tables)
      if (parts > 0 && !filled.includes(table))
        await clickhouse.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
    const dictionaries = await clickhouse.rows<{ name: string }>({
      sql: `SELECT name FROM system.dictionaries WHERE database = currentDatabase() AND status != 'NOT_LOADED'`,
      params: {},
    })
    // It is read from its table again at the first use.
    for (const { name: dictionary } of dictionaries) {
      await clickhouse.command({ sql: `DETACH DICTIONARY ${dictionary}`, params: {} })
      await clickhouse.command({ sql: `ATTACH DICTIONARY ${dictionary}`, params: {} })
    }
    return true
  } finally {
    await clickhouse.close()
  }
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
