import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventColumns, type Field } from '../../schemas/fields.ts'
import { packageRoot } from '../paths.ts'
import { openClickHouse } from './client.ts'

const directory = join(packageRoot, 'collector/clickhouse/migrations')

/**
 * Makes `database` and brings it to the newest form: the numbered migrations that it has not had, then a column
 * for every stored field of the field table that `events` lacks. Safe to run twice and by several processes at
 * once: every statement says IF NOT EXISTS, and a migration is noted only after all of it was done.
 */
export async function migrateClickHouse(url: string, database: string): Promise<void> {
  const { username, password } = new URL(url)
  const server = openClickHouse(url, 'default')
  await server.command({ sql: `CREATE DATABASE IF NOT EXISTS ${database}`, params: {} })
  await server.close()

  const clickhouse = openClickHouse(url, database)
  try {
    await clickhouse.command({
      sql: 'CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name',
      params: {},
    })
    const done = new Set(
      (await clickhouse.rows<{ name: string }>({ sql: 'SELECT name FROM migrations', params: {} })).map(
        (row) => row.name,
      ),
    )
    for (const name of readdirSync(directory)
      .filter((file) => file.endsWith('.sql'))
      .sort()) {
      if (done.has(name)) continue
      const template = readFileSync(join(directory, name), 'utf8')
      const sql = fill(template, {
        event_columns: eventColumns.map(columnDefinition).join(',\n    '),
        engine: '',
        database,
        user: decodeURIComponent(username) || 'default',
        password: decodeURIComponent(password).replaceAll('\\', '\\\\').replaceAll("'", "\\'"),
      })
      for (const statement of statementsOf(sql)) await clickhouse.command({ sql: statement, params: {} })
      await clickhouse.command({
        sql: 'INSERT INTO migrations (name) VALUES ({name:String})',
        params: { name },
      })
    }
    await addMissingFields()
  } finally {
    await clickhouse.close()
  }

  async function addMissingFields() {
    const present = new Set(
      (
        await clickhouse.rows<{ name: string }>({
          sql: "SELECT name FROM system.columns WHERE database = {database:String} AND table = 'events'",
          params: { database },
        })
      ).map((row) => row.name),
    )
    for (const field of eventColumns) {
      if (present.has(field.name)) continue
      await clickhouse.command({
        sql: `ALTER TABLE events ADD COLUMN IF NOT EXISTS ${columnDefinition(field)}`,
        params: {},
      })
    }
  }
}

/** A field as the events table declares it. */
const columnDefinition = (field: Field): string =>
  `${field.name} ${field.columnType}${field.alias ? ` ALIAS ${field.alias}` : ''}`

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
