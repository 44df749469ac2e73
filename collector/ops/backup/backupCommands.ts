import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { lockDirectory } from '../../platform/localStores/lock.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import { beginRestore, endRestore } from '../../platform/restoreMark.ts'
import { StartError } from '../../platform/startError.ts'
import { openServers } from '../../platform/stores/openStores.ts'
import { withServers } from '../servers.ts'
import {
  backUpClickHouse,
  type Destination,
  requireClickHousePart,
  requireEmptyClickHouse,
  requireOneServer,
  restoreClickHouse,
} from './backupClickHouse.ts'
import {
  dumpPostgres,
  loadPostgres,
  requireEmptyPostgres,
  requirePostgresPart,
} from './backupPostgres.ts'
import { copyFiles, putFilesBack } from './files.ts'
import { readManifest, writeManifest } from './manifest.ts'

interface Options {
  /** The location of the ClickHouse part; absent if the local server's part is in the backup's directory. */
  clickhouse?: Destination
}

const partsOf = (directory: string) => ({
  clickhouse: join(directory, 'clickhouse'),
  postgres: join(directory, 'postgres'),
  files: join(directory, 'files'),
})

/**
 * Runs `footfall backup DIR`, with or without a running service. The order makes the backup complete: an
 * event that was acknowledged earlier is in the spool or in ClickHouse. Builds that PostgreSQL refers to are
 * kept for a day.
 */
export async function backUp(
  config: Config,
  given: string,
  { clickhouse }: Options,
): Promise<void> {
  const directory = resolve(given)
  if (isFilled(directory))
    throw new StartError(`${directory} is not empty: use an own directory for each backup`)
  const parts = partsOf(directory)
  mkdirSync(parts.postgres, { recursive: true, mode: 0o700 })
  const created_at = new Date().toISOString()
  await withServers(config, async ({ clickhouse: address, postgresUrl }) => {
    const clickhouseUrl = requireOneServer(address)
    const spoolBytes = copyFiles(config.dataDir, parts.files)
    const postgres = await withPool(postgresUrl, (pool) => dumpPostgres(pool, parts.postgres))
    const there = await backUpClickHouse(
      clickhouseUrl,
      config,
      parts.clickhouse,
      clickhouse ?? null,
    )
    writeManifest(directory, { format: 1, created_at, clickhouse: there, postgres })
    const rows = postgres.tables.reduce((sum, table) => sum + table.rows, 0)
    console.log(`PostgreSQL: ${postgres.tables.length} tables, ${rows} rows`)
    console.log(
      `ClickHouse: ${there.databases.join(', ')}${there.is_here ? '' : ', in the named location'}`,
    )
    console.log(`spool: ${spoolBytes} bytes that were not shipped yet`)
    console.log(
      `${directory} is complete. It contains keys and personal data: protect it like the stores.`,
    )
  })
}

/**
 * Runs `footfall restore DIR` into an empty data directory and empty stores; the service can start on them
 * afterwards.
 */
export async function restore(
  config: Config,
  given: string,
  { clickhouse }: Options,
): Promise<void> {
  const directory = resolve(given)
  const manifest = readManifest(directory)
  const parts = partsOf(directory)
  const { dataDir } = config
  if (isFilled(dataDir))
    throw new StartError(`${dataDir} is not empty: restore into an own FOOTFALL_DATA_DIR`)
  await requirePostgresPart(manifest.postgres, parts.postgres)
  requireClickHousePart(config, manifest.clickhouse, parts.clickhouse, clickhouse ?? null)
  if (!existsSync(parts.files))
    throw new StartError(`${parts.files} is missing: the backup is damaged`)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir, 0)
  const servers = await openServers(config, console)
  try {
    const clickhouseUrl = requireOneServer(servers.clickhouse)
    await withPool(servers.postgresUrl, async (pool) => {
      await requireEmptyPostgres(pool)
      await requireEmptyClickHouse(clickhouseUrl, config)
      beginRestore(dataDir, directory)
      await loadPostgres(pool, manifest.postgres, parts.postgres)
    })
    console.log(`PostgreSQL: ${manifest.postgres.tables.length} tables`)
    await restoreClickHouse(
      clickhouseUrl,
      config,
      manifest.clickhouse,
      parts.clickhouse,
      clickhouse ?? null,
    )
    console.log('ClickHouse: both databases')
    putFilesBack(parts.files, dataDir)
    endRestore(dataDir)
    console.log(
      `${dataDir} is as ${directory} was at ${manifest.created_at}. Now start the service: it ships the spooled events.`,
    )
  } finally {
    await servers.stop()
    await lock.release()
  }
}

const isFilled = (directory: string): boolean =>
  existsSync(directory) && readdirSync(directory).length > 0

async function withPool<T>(url: string, work: (pool: Postgres) => Promise<T>): Promise<T> {
  const pool = openPostgres(url, () => {})
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
