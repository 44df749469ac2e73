/** Backup and restore of ClickHouse with its own BACKUP and RESTORE statements. */
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type ClickHouseAddress, testDatabaseOf } from '../../platform/clickhouse/cluster.ts'
import { localBackups } from '../../platform/clickhouse/local.ts'
import { saveDictionaryLogin } from '../../platform/clickhouse/login.ts'
import { migrateClickHouse } from '../../platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../platform/clickhouse/openClickHouse.ts'
import { StartError } from '../../platform/startError.ts'
import type { Manifest } from './manifest.ts'

/** The location of an operator's backup, in the syntax of BACKUP … TO, such as S3('https://…', …). */
export type Destination = string

const pollMs = 200

/** Returns the databases of a configuration: live and test. */
const databasesOf = ({ clickhouseDatabase }: Config): readonly [string, string] => [
  clickhouseDatabase,
  testDatabaseOf(clickhouseDatabase),
]

/**
 * Backs up both databases to `destination`, or those of the local server to `directory`, which must not exist
 * yet.
 */
export async function backUpClickHouse(
  url: string,
  config: Config,
  directory: string,
  destination: Destination | null,
): Promise<Manifest['clickhouse']> {
  const databases = databasesOf(config)
  const what = databases.map((name) => `DATABASE ${name}`).join(', ')
  await withServer(url, async (server) => {
    if (destination) return run(server, `BACKUP ${what} TO ${destination}`)
    const draft = join(localBackupsOf(config), randomUUID())
    try {
      await run(server, `BACKUP ${what} TO File('${draft}')`)
      move(draft, directory)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  })
  return { databases, is_here: destination === null }
}

/** Throws StartError unless ClickHouse has no tables in our databases. */
export async function requireEmptyClickHouse(url: string, config: Config): Promise<void> {
  const [found] = await withServer(url, (server) =>
    server.rows<{ database: string }>({
      sql: 'SELECT database FROM system.tables WHERE database IN {databases:Array(String)} LIMIT 1',
      params: { databases: databasesOf(config) },
    }),
  )
  if (found)
    throw new StartError(
      `ClickHouse already has tables in ${found.database}: restore into an empty database`,
    )
}

/**
 * Throws StartError if the ClickHouse part of a backup is missing, has no named location, or cannot be
 * restored to this server.
 */
export function requireClickHousePart(
  config: Config,
  backup: Manifest['clickhouse'],
  directory: string,
  destination: Destination | null,
): void {
  if (!backup.is_here && !destination)
    throw new StartError(
      'ClickHouse’s part of this backup is stored elsewhere: name its location with --clickhouse, as for the backup',
    )
  if (!backup.is_here) return
  localBackupsOf(config)
  if (!existsSync(directory)) throw new StartError(`${directory} is missing: the backup is damaged`)
}

/** Restores both databases from the backup, and upgrades them to this version's schema. */
export async function restoreClickHouse(
  url: string,
  config: Config,
  backup: Manifest['clickhouse'],
  directory: string,
  destination: Destination | null,
): Promise<void> {
  const databases = databasesOf(config)
  const what = databases
    .map((name, index) => `DATABASE ${backup.databases[index]} AS ${name}`)
    .join(', ')
  await withServer(url, async (server) => {
    // Dictionaries use this login, and backups do not contain it.
    for (const database of databases) await saveDictionaryLogin({ ...server, database }, url)
    if (!backup.is_here) return run(server, `RESTORE ${what} FROM ${destination}`)
    const draft = join(localBackupsOf(config), randomUUID())
    try {
      mkdirSync(dirname(draft), { recursive: true, mode: 0o700 })
      cpSync(directory, draft, { recursive: true })
      await run(server, `RESTORE ${what} FROM File('${draft}')`)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  })
  for (const database of databases) await migrateClickHouse(url, database)
}

/**
 * Returns the address of a single server. Throws StartError for a cluster, where the operator must back up
 * each server with ClickHouse's own tools.
 */
export function requireOneServer(address: ClickHouseAddress): string {
  if (typeof address === 'string') return address
  throw new StartError(
    'this command does not back up several servers (CLICKHOUSE_SHARDS). Back up each server with ClickHouse’s BACKUP and PostgreSQL with pg_dump, and keep the data directories of all collectors',
  )
}

/** Returns the directory of a local server's backups. Throws StartError for a server of the operator. */
function localBackupsOf({ clickhouse, dataDir }: Config): string {
  if (clickhouse)
    throw new StartError(
      `name the location of ClickHouse’s backup with --clickhouse: "Disk('backups', 'monday')", "S3('https://…', 'key', 'secret')"`,
    )
  return localBackups(join(dataDir, 'clickhouse'))
}

/** Runs a statement that may take hours, and polls its state. */
async function run(server: ClickHouse, statement: string): Promise<void> {
  const id = randomUUID()
  await server.command({ sql: `${statement} SETTINGS id = '${id}' ASYNC`, params: {} })
  for (;;) {
    const [state] = await server.rows<{ status: string; error: string }>({
      sql: 'SELECT status, error FROM system.backups WHERE id = {id:String}',
      params: { id },
    })
    if (state?.status === 'BACKUP_CREATED' || state?.status === 'RESTORED') return
    if (state && /FAILED|CANCELLED/.test(state.status))
      throw new StartError(`ClickHouse: ${state.error}`)
    await delay(pollMs)
  }
}

async function withServer<T>(url: string, work: (server: ClickHouse) => Promise<T>): Promise<T> {
  const server = openClickHouse(url, 'default')
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

/** Moves a directory, also to another disk. */
function move(from: string, to: string): void {
  if (existsSync(to)) throw new StartError(`${to} already exists`)
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    cpSync(from, to, { recursive: true })
  }
}
