import type { Config } from '../../config.ts'
import { type ClickHouseAddress, isSharded } from '../../platform/clickhouse/cluster.ts'
import { requireShardSet } from '../../platform/clickhouse/shardSet.ts'
import { readCompleteUntil } from '../../platform/collectors.ts'
import { packageVersion } from '../../platform/paths.ts'
import type { Lease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { dumpPostgres, inSnapshot } from './dumpPostgres.ts'
import { exportSnapshots } from './exportSnapshots.ts'
import { saveFiles } from './files.ts'
import { noteLastBackup } from './lastBackup.ts'
import {
  type DatabaseKind,
  listBackups,
  type Manifest,
  objectsOf,
  readManifest,
  type StoredBackup,
  writeManifest,
} from './manifest.ts'
import { bytesOf, type ObjectStore, ObjectWriter } from './objectStore.ts'
import { type ShardServer, withShardServers } from './shardServers.ts'
import { dropSnapshots, takeSnapshots } from './snapshotClickHouse.ts'

export interface BackupSource {
  readonly store: ObjectStore
  readonly postgres: Postgres
  readonly address: ClickHouseAddress
  readonly lease: Lease
}

export interface WrittenBackup extends StoredBackup {
  readonly manifest: Manifest
  readonly writer: ObjectWriter
  /** Earlier backups that refer to a damaged object which this backup could not restore under its name. */
  readonly damagedBackups: readonly string[]
}

/** Every object is read again within this time. */
const verifyEveryMs = 7 * 86_400_000

/**
 * Writes a backup of all stored data. It writes only what the store lacks, so an interrupted backup continues where it
 * stopped. Once a week, and with `verifies`, it reads the objects of earlier backups again and replaces damaged ones.
 *
 * The order makes the backup complete (ops/decisions/0003): spool, PostgreSQL, ClickHouse. Each sees a later time, so
 * ClickHouse has all rows that PostgreSQL refers to.
 */
export async function writeBackup(
  { clickhouseDatabase: database, dataDir }: Pick<Config, 'clickhouseDatabase' | 'dataDir'>,
  { store, postgres, address, lease }: BackupSource,
  { verifies = false }: { verifies?: boolean } = {},
): Promise<WrittenBackup> {
  if (isSharded(address)) await requireShardSet(postgres, address, database)
  const created_at = new Date().toISOString()
  const earlier = await lastVerification(store)
  const isDue =
    verifies || earlier === null || Date.parse(created_at) - Date.parse(earlier) > verifyEveryMs
  const writer = new ObjectWriter(store, await store.list('objects'), { verifies: isDue })
  const manifest = await withShardServers(address, database, async (servers) => {
    await dropSnapshots(servers)
    try {
      const files = await saveFiles(dataDir, writer)
      const { completeUntil, snapshots, dump } = await inSnapshot(postgres, async (client) => {
        const completeUntil = await readCompleteUntil(client)
        const snapshots = await takeSnapshots(servers, address)
        return { completeUntil, snapshots, dump: await dumpPostgres(client, writer) }
      })
      const manifest: Manifest = {
        format: 2,
        version: packageVersion,
        created_at,
        complete_until: completeUntil === null ? null : new Date(completeUntil).toISOString(),
        verified_at: isDue ? created_at : earlier,
        postgres: dump,
        clickhouse: {
          shards: isSharded(address) ? address.shards.length : 1,
          migrations: await readMigrations(servers),
          tables: await exportSnapshots(snapshots, writer),
        },
        files,
      }
      return manifest
    } finally {
      await dropSnapshots(servers).catch((error: Error) =>
        console.warn(`the snapshots remain until the next backup: ${error.message}`),
      )
    }
  })
  await writer.requireComplete()
  await lease.renew()
  const backup = await writeManifest(store, manifest)
  await noteLastBackup(postgres, {
    backup_id: backup.id,
    place: store.place,
    created_at,
    complete_until: manifest.complete_until,
    verified_at: manifest.verified_at,
    bytes: objectsOf(manifest).reduce((sum, object) => sum + bytesOf(object), 0),
    damaged_objects: writer.damaged.length,
  })
  return { ...backup, manifest, writer, damagedBackups: await findDamaged(store, writer) }
}

/** Returns when a backup last read the objects of this store; null if it is unknown. */
async function lastVerification(store: ObjectStore): Promise<string | null> {
  const [newest] = await listBackups(store)
  if (!newest) return null
  // A damaged manifest is a reason to read everything.
  const manifest = await readManifest(store, newest).catch(() => null)
  return manifest?.verified_at ?? null
}

async function findDamaged(store: ObjectStore, { damaged }: ObjectWriter): Promise<string[]> {
  if (damaged.length === 0) return []
  const present = await store.list('objects')
  const lost = new Set(damaged.filter((name) => !present.has(name)))
  const ids: string[] = []
  for (const backup of await listBackups(store)) {
    const manifest = await readManifest(store, backup).catch(() => null)
    if (!manifest || objectsOf(manifest).some((object) => lost.has(object))) ids.push(backup.id)
  }
  return ids
}

async function readMigrations(
  servers: readonly ShardServer[],
): Promise<Record<DatabaseKind, string[]>> {
  const migrations: Record<DatabaseKind, string[]> = { live: [], test: [] }
  for (const { kind, shard, clickhouse } of servers) {
    if (shard > 0) continue
    const rows = await clickhouse.rows<{ name: string }>({
      sql: 'SELECT DISTINCT name FROM migrations ORDER BY name',
      params: {},
    })
    migrations[kind] = rows.map(({ name }) => name)
  }
  return migrations
}
