import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Queryable } from './postgres/transaction.ts'
import { StartError } from './startError.ts'

/** The file that marks a running restore. It exists until the restore has written all its files. */
const pathOf = (dataDir: string): string => join(dataDir, 'restoring')

/**
 * The table that marks a running restore in PostgreSQL, for the other machines. It is no migration, because a restore
 * creates it before the tables of the backup.
 */
const markTable = 'unfinished_restore'

/** Marks the start of a restore; `from` is the place of the backup. */
export async function beginRestore(
  dataDir: string,
  postgres: Queryable,
  from: string,
): Promise<void> {
  markDirectory(dataDir, from)
  await postgres.query(`CREATE TABLE ${markTable} AS SELECT $1::text AS place, now() AS begun_at`, [
    from,
  ])
}

export const markDirectory = (dataDir: string, from: string): void =>
  writeFileSync(pathOf(dataDir), `${from}\n`, { mode: 0o600, flush: true })

/** Marks the end of a restore, after all other writes. */
export async function endRestore(dataDir: string, postgres: Queryable): Promise<void> {
  await postgres.query(`DROP TABLE ${markTable}`)
  rmSync(pathOf(dataDir))
}

/** Throws StartError if a restore into this data directory did not finish. */
export function refuseHalfRestored(dataDir: string): void {
  if (existsSync(pathOf(dataDir))) throw halfRestored(dataDir)
}

/** Throws StartError if a restore into this PostgreSQL did not finish, also one of another machine. */
export async function refuseHalfRestoredStores(postgres: Queryable): Promise<void> {
  const { rowCount } = await postgres.query('SELECT WHERE to_regclass($1) IS NOT NULL', [markTable])
  if (rowCount !== 0) throw halfRestored('these stores')
}

/** Returns the error of a restore that began to write, with the instructions for another one. */
export const halfRestored = (into: string, reason = ''): StartError =>
  new StartError(
    `a restore into ${into} did not finish${reason && ` (${reason})`}, so the stores are incomplete. Unless it still runs, empty the data directory and drop both databases on every ClickHouse server (CLICKHOUSE_DATABASE, and its name with _test). Then create the PostgreSQL database again, and restore again`,
  )
