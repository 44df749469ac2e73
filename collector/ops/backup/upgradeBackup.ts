import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import {
  type ClickHouseAddress,
  firstShard,
  openDatabase,
} from '../../platform/clickhouse/cluster.ts'
import { migrationNames as clickHouseNames } from '../../platform/clickhouse/migrate.ts'
import { LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import { migrationNames as postgresNames } from '../../platform/postgres/migrate.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { ClickHouseRefused, isUnavailable } from '../../platform/storeErrors.ts'
import { writeBackup } from './backUp.ts'
import { readLastPlace } from './lastBackup.ts'
import { openObjectStore } from './openObjectStore.ts'
import { backupLease } from './withBackups.ts'

type Options = Pick<
  Config,
  'backupS3' | 'clickhouse' | 'clickhouseDatabase' | 'databaseUrl' | 'dataDir'
>

interface BothStores {
  readonly postgres: Postgres
  readonly address: ClickHouseAddress
}

/** Another process may write a backup now; it may be that of this upgrade. */
const retryMs = 2_000

/**
 * Backs up both stores before this version migrates one of them, so that there is a way back. Does nothing if no migration
 * is due, or for new stores. Rejects with StartError if the backup fails; nothing is migrated then.
 */
export async function backUpBeforeMigration(
  config: Options,
  stores: BothStores,
  report: (text: string) => void,
): Promise<void> {
  for (;;) {
    if (!(await isMigrationDue(config, stores))) return
    const directory = await placeOf(config, stores.postgres)
    if (directory === null) {
      report(
        'this version migrates the stores without a backup, because FOOTFALL_BACKUP_S3_* and an earlier backup of this machine are missing',
      )
      return
    }
    try {
      await backUp(config, stores, directory.path, report)
      return
    } catch (error) {
      if (isUnavailable(error)) throw error
      if (!(error instanceof LeaseHeldError))
        throw new StartError(
          `the backup before the migration failed: ${(error as Error).message}. Nothing was migrated. Start again, or run npx footfall-server migrate --no-backup`,
        )
      await delay(retryMs)
    }
  }
}

async function backUp(
  config: Options,
  { postgres, address }: BothStores,
  directory: string | undefined,
  report: (text: string) => void,
): Promise<void> {
  const store = await openObjectStore(config, directory)
  try {
    report(`backing up to ${store.place} before the migration`)
    await withLease(postgres, backupLease(config.clickhouseDatabase), async (lease) => {
      const { id } = await writeBackup(config, { store, postgres, address, lease })
      report(`backup ${id} in ${store.place} has the stores before the migration`)
    })
  } finally {
    store.close()
  }
}

/** The migrations that a store has, and those of this version. */
interface Schema {
  readonly applied: readonly string[]
  readonly ours: readonly string[]
}

/** Whether this version can upgrade a store that is not empty. */
const isUpgradable = ({ applied, ours }: Schema): boolean =>
  applied.length > 0 && applied.every((name) => ours.includes(name))

const isBehind = (schema: Schema): boolean =>
  isUpgradable(schema) && schema.applied.length < schema.ours.length

/** Whether both stores have a schema that this version can upgrade, and one of them lacks a migration. */
async function isMigrationDue(
  { clickhouseDatabase }: Options,
  { postgres, address }: BothStores,
): Promise<boolean> {
  const schemas = [
    await schemaOfPostgres(postgres),
    await schemaOfClickHouse(address, clickhouseDatabase),
  ]
  return schemas.every(isUpgradable) && schemas.some(isBehind)
}

/** Whether this version will migrate a PostgreSQL that is not new. */
export const isPostgresBehind = async (postgres: Postgres): Promise<boolean> =>
  isBehind(await schemaOfPostgres(postgres))

/** Whether this version will migrate a ClickHouse that is not new. */
export const isClickHouseBehind = async (
  address: ClickHouseAddress,
  database: string,
): Promise<boolean> => isBehind(await schemaOfClickHouse(address, database))

async function schemaOfPostgres(postgres: Postgres): Promise<Schema> {
  const { rows: tables } = await postgres.query<{ exists: boolean }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS exists",
  )
  if (!tables[0]!.exists) return { applied: [], ours: postgresNames() }
  const { rows } = await postgres.query<{ name: string }>('SELECT name FROM migrations')
  return { applied: rows.map(({ name }) => name), ours: postgresNames() }
}

/** ClickHouse's codes for an unknown table and an unknown database. */
const unknownCodes = [60, 81]

async function schemaOfClickHouse(address: ClickHouseAddress, database: string): Promise<Schema> {
  const server = openDatabase(firstShard(address), database)
  try {
    const rows = await server.rows<{ name: string }>({
      sql: 'SELECT DISTINCT name FROM migrations',
    })
    return { applied: rows.map(({ name }) => name), ours: clickHouseNames() }
  } catch (error) {
    if (error instanceof ClickHouseRefused && unknownCodes.includes(error.code))
      return { applied: [], ours: clickHouseNames() }
    throw error
  } finally {
    await server.close()
  }
}

/**
 * Returns the place of the backup: the settings' store, else the last backup's directory on this machine, else a directory
 * next to local stores. Null without any of them: nobody expects all events on the disk of a collector.
 */
async function placeOf(
  { backupS3, clickhouse, databaseUrl, dataDir }: Options,
  postgres: Postgres,
): Promise<{ path: string | undefined } | null> {
  if (backupS3) return { path: undefined }
  const last = await readLastPlace(postgres)
  if (last !== null && existsSync(join(last, 'backups'))) return { path: last }
  return clickhouse === null || databaseUrl === null ? { path: join(dataDir, 'backups') } : null
}
