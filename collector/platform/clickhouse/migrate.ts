import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { companyFields, eventColumns, type Field, profileFields } from '../../../schemas/fields.ts'
import { packageRoot } from '../paths.ts'
import { type ClickHouse, openClickHouse } from './client.ts'
import { columnDefinition, syncColumns } from './columns.ts'

const directory = join(packageRoot, 'collector/platform/clickhouse/migrations')

const triesMost = 5
const retryMs = 200

/**
 * Makes `database` and brings it to the newest form: the numbered migrations that it has not had, then whatever the
 * field table says that the tables lack. Safe to run twice and by several processes at once: every statement can be
 * done again, a migration is noted only after all of it was done, and where two get in each other's way, each tries
 * once more.
 */
export async function migrateClickHouse(url: string, database: string): Promise<void> {
  const server = openClickHouse(url, 'default')
  await server.command({ sql: `CREATE DATABASE IF NOT EXISTS ${database}`, params: {} })
  await server.close()

  const clickhouse = openClickHouse(url, database)
  try {
    for (let tried = 1; ; tried++) {
      try {
        await migrate(clickhouse, url)
        return await syncColumns(clickhouse)
      } catch (error) {
        if (tried === triesMost) throw error
        await delay(retryMs * tried)
      }
    }
  } finally {
    await clickhouse.close()
  }
}

async function migrate(clickhouse: ClickHouse, url: string): Promise<void> {
  await clickhouse.command({
    sql: 'CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name',
    params: {},
  })
  const done = new Set(
    (await clickhouse.rows<{ name: string }>({ sql: 'SELECT name FROM migrations', params: {} })).map(
      (row) => row.name,
    ),
  )
  const names = readdirSync(directory).filter((file) => file.endsWith('.sql') && !done.has(file))
  for (const name of names.sort()) {
    const sql = fill(readFileSync(join(directory, name), 'utf8'), valuesOf(url, clickhouse.database))
    for (const statement of statementsOf(sql)) await clickhouse.command({ sql: statement, params: {} })
    await clickhouse.command({
      sql: 'INSERT INTO migrations (name) VALUES ({name:String})',
      params: { name },
    })
  }
}

/** What stands for the names in braces. */
function valuesOf(url: string, database: string): Record<string, string> {
  const { username, password } = new URL(url)
  return {
    event_columns: storedColumns(eventColumns),
    profile_columns: storedColumns(profileFields),
    company_columns: storedColumns(companyFields.filter(({ name }) => name !== 'company_domain')),
    engine: '',
    database,
    user: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password).replaceAll('\\', '\\\\').replaceAll("'", "\\'"),
  }
}

/** Fields as a table declares them, without those computed when read: these need dictionaries that are made later. */
const storedColumns = (fields: readonly Field[]): string =>
  fields
    .filter(({ alias }) => !alias)
    .map(columnDefinition)
    .join(',\n    ')

/** Splits a migration at the semicolons that end a line; comment lines are dropped. */
const statementsOf = (sql: string): string[] =>
  sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean)

function fill(template: string, values: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
