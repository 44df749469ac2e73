import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../paths.ts'
import type { Postgres } from './pool.ts'

const directory = join(packageRoot, 'collector/platform/postgres/migrations')

/** Any number that nobody else locks on in our database. */
const migrationLock = 7_306_001

/**
 * Applies the numbered migrations that the database has not had, each in a transaction of its own. Safe to run
 * twice and by several processes at once: one applies, the others wait for it.
 */
export async function migratePostgres(postgres: Postgres): Promise<void> {
  const client = await postgres.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock])
    await client.query(
      'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    )
    const done = new Set(
      (await client.query<{ name: string }>('SELECT name FROM migrations')).rows.map((row) => row.name),
    )
    for (const name of readdirSync(directory)
      .filter((file) => file.endsWith('.sql'))
      .sort()) {
      if (done.has(name)) continue
      await client.query('BEGIN')
      try {
        await client.query(readFileSync(join(directory, name), 'utf8'))
        await client.query('INSERT INTO migrations (name) VALUES ($1)', [name])
        await client.query('COMMIT')
      } catch (error) {
        await client.query('ROLLBACK')
        throw new Error(`migration ${name} failed: ${(error as Error).message}`)
      }
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]).catch(() => {})
    client.release()
  }
}
