import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { isSharded } from '../../platform/clickhouse/cluster.ts'
import { requireUpgradable as requireClickHouse } from '../../platform/clickhouse/migrate.ts'
import { noteShardSet } from '../../platform/clickhouse/shardSet.ts'
import { counted } from '../../platform/counted.ts'
import { lockDirectory } from '../../platform/localStores/lock.ts'
import { requireUpgradable as requirePostgres } from '../../platform/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import {
  beginRestore,
  endRestore,
  halfRestored,
  refuseHalfRestored,
  refuseHalfRestoredStores,
} from '../../platform/restoreMark.ts'
import { StartError } from '../../platform/startError.ts'
import { openServers, type Servers } from '../../platform/stores/openStores.ts'
import { putFilesBack } from './files.ts'
import { findBackup, type Manifest, objectsOf, readManifest } from './manifest.ts'
import { bytesOf, damaged, type ObjectStore, readObject } from './objectStore.ts'
import { openObjectStore } from './openObjectStore.ts'
import { requireEmptyClickHouse, restoreClickHouse, type Target } from './restoreClickHouse.ts'
import { loadPostgres, requireEmptyPostgres } from './restorePostgres.ts'

interface Options {
  /** Id of the backup; default: the newest. */
  backup?: string
  /** Whether to check the backup only. */
  check?: boolean
}

/**
 * Runs `footfall-server restore [DIR]` into an empty data directory and empty stores; the service can start on them afterwards.
 * It checks the backup and the stores completely before it writes.
 */
export async function restore(
  config: Config,
  directory: string | undefined,
  { backup: id, check = false }: Options,
): Promise<void> {
  const store = await openObjectStore(config, directory)
  try {
    const backup = await findBackup(store, id)
    const manifest = await readManifest(store, backup)
    requireKnownSchema(manifest)
    if (!check) requireShards(manifest, config)
    if (!check) requireEmptyDirectory(config.dataDir)
    // Local stores are in the data directory, which is empty.
    if (!check && config.clickhouse && config.databaseUrl)
      await withEmptyStores(config, async () => {})
    const bytes = await requireIntact(store, manifest)
    console.log(`backup ${backup.id} in ${store.place} is intact: ${bytes} bytes`)
    if (check) return
    await write(config, store, manifest)
    console.log(
      `the stores are as they were at ${manifest.created_at}. Now start the service. If collectors of the backup do not return, retire them: npx footfall-server collectors list`,
    )
  } finally {
    store.close()
  }
}

function requireKnownSchema({ version, postgres, clickhouse }: Manifest): void {
  try {
    requirePostgres(postgres.migrations)
    for (const names of Object.values(clickhouse.migrations)) requireClickHouse(names)
  } catch (error) {
    if (error instanceof StartError) error.message += `. Footfall ${version} wrote the backup`
    throw error
  }
}

function requireEmptyDirectory(dataDir: string): void {
  refuseHalfRestored(dataDir)
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new StartError(
      `${dataDir} is not empty: restore into an empty directory (FOOTFALL_DATA_DIR)`,
    )
}

/** Objects that are read at once. */
const readers = 4

/** Reads every object of a backup, and returns their bytes. Throws StartError if one is missing or damaged. */
async function requireIntact(store: ObjectStore, manifest: Manifest): Promise<number> {
  const names = objectsOf(manifest)
  const present = await store.list('objects')
  const missing = names.find((name) => !present.has(name))
  if (missing) throw damaged(store, 'objects', missing, 'is missing')
  const rest = names.values()
  const read = async () => {
    for (const name of rest) await readObject(store, 'objects', name)
  }
  await Promise.all(Array.from({ length: readers }, read))
  return names.reduce((sum, name) => sum + bytesOf(name), 0)
}

/** Throws StartError unless the settings name as many shards as the backup has. */
function requireShards({ clickhouse: { shards } }: Manifest, { clickhouse }: Config): void {
  const named = clickhouse !== null && isSharded(clickhouse) ? clickhouse.shards.length : 1
  if (named !== shards)
    throw new StartError(
      `the backup has ${counted(shards, 'shard')} of ClickHouse, and the settings name ${named}: set CLICKHOUSE_SHARDS to as many servers. Add shards after the restore`,
    )
}

interface EmptyStores extends Pick<Servers, 'clickhouse'> {
  readonly postgres: Postgres
}

/** Runs `work` with both stores. Throws StartError unless they are available and empty. */
async function withEmptyStores(
  config: Config,
  work: (stores: EmptyStores) => Promise<void>,
): Promise<void> {
  const servers = await openServers(config, console)
  const { clickhouse, postgresUrl } = servers
  const postgres = openPostgres(postgresUrl, () => {})
  try {
    await refuseHalfRestoredStores(postgres)
    await requireEmptyPostgres(postgres)
    await requireEmptyClickHouse({ address: clickhouse, database: config.clickhouseDatabase })
    await work({ clickhouse, postgres })
  } finally {
    await postgres.end()
    await servers.stop()
  }
}

async function write(config: Config, store: ObjectStore, manifest: Manifest): Promise<void> {
  const { dataDir, clickhouseDatabase: database } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir, 0)
  try {
    await withEmptyStores(config, async ({ clickhouse: address, postgres }) => {
      await beginRestore(dataDir, postgres, store.place)
      try {
        await fillStores(store, manifest, { address, database, dataDir, postgres })
      } catch (error) {
        throw halfRestored(dataDir, (error as Error).message)
      }
      await endRestore(dataDir, postgres)
    })
  } finally {
    await lock.release()
  }
}

interface Filled extends Target {
  readonly dataDir: string
  readonly postgres: Postgres
}

async function fillStores(
  store: ObjectStore,
  manifest: Manifest,
  { address, database, dataDir, postgres }: Filled,
): Promise<void> {
  await loadPostgres(postgres, manifest.postgres, store)
  console.log(`PostgreSQL: ${counted(manifest.postgres.tables.length, 'table')}`)
  await restoreClickHouse(store, manifest.clickhouse, { address, database })
  // The servers are other ones than those of the backup.
  await postgres.query('DELETE FROM clickhouse_shards')
  if (isSharded(address)) await noteShardSet(postgres, address, database)
  console.log(`ClickHouse: ${counted(manifest.clickhouse.shards, 'shard')}`)
  await putFilesBack(store, manifest.files, dataDir)
}
