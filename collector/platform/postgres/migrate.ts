import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf, migrationsOf, requireKnownMigrations } from '../knownMigrations.ts'
import { packageRoot } from '../paths.ts'
import { requireGrants } from './grants.ts'
import type { Postgres } from './pool.ts'
import type { Queryable } from './transaction.ts'

const migrationDirectory = join(packageRoot, 'collector/platform/postgres/migrations')
const functionDirectory = join(packageRoot, 'collector/platform/postgres/functions')

/** Any number that no other advisory lock in our database uses. */
const migrationLock = 7_306_001

/**
 * Applies missing numbered migrations, then replaces functions that differ from their files. Several
 * processes may run it at once, and repeatedly: one applies, the others wait. Rejects with StartError if this
 * version cannot upgrade the database, or if the login lacks a grant, which it names.
 */
export async function migratePostgres(postgres: Postgres): Promise<void> {
  const client = await postgres.connect()
  try {
    await requireGrants(client)
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock])
    await applyMigrations(client)
    await replaceFunctions(client)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]).catch(() => {})
    client.release()
  }
}

/** Throws StartError if this version cannot upgrade a database with these migrations. */
export const requireUpgradable = (names: Iterable<string>): void =>
  requireKnownMigrations('PostgreSQL', migrationNames(), names)

/**
 * Creates the tables of these migrations in an empty database. A later migratePostgres applies the rest.
 * Throws StartError if this version cannot upgrade such a database.
 */
export async function makeTablesOf(client: Queryable, names: readonly string[]): Promise<void> {
  requireUpgradable(names)
  await applyMigrations(client, (name) => names.includes(name))
}

async function applyMigrations(
  client: Queryable,
  isMeant: (name: string) => boolean = () => true,
): Promise<void> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  )
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations')
  const recorded = new Set(rows.map(({ name }) => name))
  requireUpgradable(recorded)
  for (const name of migrationNames().filter(isMeant)) {
    if (recorded.has(name)) continue
    await apply(client, migrationDirectory, fileOf(name), () =>
      client.query('INSERT INTO migrations (name) VALUES ($1)', [name]),
    )
  }
}

/**
 * Replaces the functions whose files have changed. The file of a function is its only current definition, and
 * creates its trigger. If the parameters or the result change, the file first drops the previous function.
 */
async function replaceFunctions(client: Queryable): Promise<void> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS sql_functions (name text PRIMARY KEY, sha256 text NOT NULL)',
  )
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'SELECT name, sha256 FROM sql_functions',
  )
  const present = new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  for (const name of sqlFiles(functionDirectory)) {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(functionDirectory, name)))
      .digest('hex')
    if (present.get(name) === sha256) continue
    await apply(client, functionDirectory, name, () =>
      client.query(
        'INSERT INTO sql_functions VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256',
        [name, sha256],
      ),
    )
  }
}

const sqlFiles = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()

/** The migrations of this version, in order. */
export const migrationNames = (): string[] => migrationsOf(migrationDirectory)

/** Runs a file, and `note` to record it, in one transaction. */
async function apply(
  client: Queryable,
  directory: string,
  name: string,
  note: () => Promise<unknown>,
): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(readFileSync(join(directory, name), 'utf8'))
    await note()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`${name} failed: ${(error as Error).message}`)
  }
}
