import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { companyFields, eventColumns, type Field, profileFields } from '../../../schemas/fields.ts'
import { refuseNewerSchema } from '../refuseNewerSchema.ts'
import { StartError } from '../startError.ts'
import { type ClickHouse, openClickHouse } from './client.ts'
import { columnDefinition, syncColumns } from './columns.ts'
import { reloadFailedDictionaries, syncDefinitions } from './definitions.ts'
import { isAccessDenied, lacksGrant } from './grants.ts'
import { saveDictionaryLogin } from './login.ts'
import { syncProfileRows } from './profileRows.ts'
import { readStatements, schemaDirectory } from './statements.ts'
import { syncTopics } from './topics.ts'

const triesMax = 5
const retryMs = 200

/**
 * The one owner of ClickHouse's schema. Makes `database` and brings it to the newest form: tables by the numbered
 * migrations that it has not had; what can be replaced as a whole, and the columns of the field table, by comparing
 * what is there with what should be. Safe to run twice and by several processes at once: every statement can be done
 * again, a migration is recorded only after all of it was done, and where two get in each other's way, each tries once
 * more. Throws when ClickHouse cannot be asked, or refuses; StartError where a newer version was here before, or the
 * login lacks a grant, which it names.
 */
export async function migrateClickHouse(url: string, database: string): Promise<void> {
  await makeDatabase(url, database)
  const clickhouse = openClickHouse(url, database)
  try {
    for (let tried = 1; ; tried++) {
      try {
        return await migrate(clickhouse, url)
      } catch (error) {
        if (isAccessDenied(error)) throw lacksGrant(error)
        if (tried === triesMax || error instanceof StartError) throw error
        await delay(retryMs * tried)
      }
    }
  } finally {
    await clickhouse.close()
  }
}

async function makeDatabase(url: string, database: string): Promise<void> {
  const server = openClickHouse(url, 'default')
  try {
    await server.command({ sql: `CREATE DATABASE IF NOT EXISTS ${database}`, params: {} })
  } catch (error) {
    throw isAccessDenied(error) ? lacksGrant(error) : error
  } finally {
    await server.close()
  }
}

async function migrate(clickhouse: ClickHouse, url: string): Promise<void> {
  const { database } = clickhouse
  const login = await saveDictionaryLogin(clickhouse, url)
  await runMigrations(clickhouse)
  await syncDefinitions(clickhouse, { database, login: login.source })
  await reloadFailedDictionaries(clickhouse)
  await syncColumns(clickhouse)
  await syncProfileRows(clickhouse)
  await syncTopics(clickhouse)
}

/** The migrations of this version, in order. */
export const migrationNames = (): string[] =>
  readdirSync(join(schemaDirectory, 'migrations'))
    .filter((file) => file.endsWith('.sql'))
    .sort()

async function runMigrations(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command({
    sql: 'CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name',
    params: {},
  })
  const done = new Set(
    (await clickhouse.rows<{ name: string }>({ sql: 'SELECT name FROM migrations', params: {} })).map(
      (row) => row.name,
    ),
  )
  const ours = migrationNames()
  refuseNewerSchema('ClickHouse', done, ours)
  for (const name of ours.filter((file) => !done.has(file))) {
    for (const sql of readStatements(`migrations/${name}`, tableValues))
      await clickhouse.command({ sql, params: {} })
    await clickhouse.command({
      sql: 'INSERT INTO migrations (name) VALUES ({name:String})',
      params: { name },
    })
  }
}

/** Fields as a table declares them, without those computed when read: these need dictionaries that are made later. */
const storedColumns = (fields: readonly Field[]): string =>
  fields
    .filter(({ alias }) => !alias)
    .map(columnDefinition)
    .join(',\n    ')

/** What stands for the names in braces of migrations. */
const tableValues = {
  event_columns: storedColumns(eventColumns),
  profile_columns: storedColumns(profileFields),
  company_columns: storedColumns(companyFields.filter(({ name }) => name !== 'company_domain')),
  engine: '',
}
