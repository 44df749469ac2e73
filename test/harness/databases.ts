import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** Names a database of a test's own. */
export const randomName = () => `test_${randomBytes(6).toString('hex')}`

/** The database of a run that has had all migrations and is never written to: others are copies of it. */
export const migratedDatabase = 'migrated'

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
export const newPostgresDatabase = (): Promise<string> =>
  createPostgresDatabase(inject('postgresUrl'), randomName(), migratedDatabase)

/** The same without any tables. */
export const newEmptyPostgresDatabase = (): Promise<string> =>
  createPostgresDatabase(inject('postgresUrl'), randomName())

/** The settings of a service with databases of its own in the run's stores, and with the demo. */
export const ownDatabases = async (): Promise<Record<string, string>> => ({
  DATABASE_URL: await newPostgresDatabase(),
  CLICKHOUSE_URL: inject('clickhouseUrl'),
  CLICKHOUSE_DATABASE: randomName(),
  FOOTFALL_DEMO: 'true',
})
