import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Config } from '../../config.ts'
import { type ClickHouseAddress, isSharded } from '../../platform/clickhouse/cluster.ts'
import { requireShardSet } from '../../platform/clickhouse/shardSet.ts'
import { readCompleteUntil } from '../../platform/collectors.ts'
import { packageVersion } from '../../platform/paths.ts'
import type { Lease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { dumpPostgres, inSnapshot } from './dumpPostgres.ts'
import { saveFiles } from './files.ts'
import { noteLastBackup } from './lastBackup.ts'
import {
  type ClickHouseTable,
  type Column,
  type DatabaseKind,
  listBackups,
  type Manifest,
  objectsOf,
  readManifest,
  type StoredBackup,
  writeManifest,
} from './manifest.ts'
import { bytesOf, type ObjectStore, ObjectWriter, objectBytesMax } from './objectStore.ts'
import { type ShardServer, withShardServers } from './shardServers.ts'
import { dropSnapshots, type Snapshot, takeSnapshots } from './snapshotClickHouse.ts'

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
    })
    migrations[kind] = rows.map(({ name }) => name)
  }
  return migrations
}

/** Parts are cut where a chunk has about this many bytes on ClickHouse's disk. */
const chunkBytes = objectBytesMax / 2

/** Rows of a part. Its name in the store tells the part and the position within it. */
interface Chunk {
  part: string
  identity: string
  from: number
  to: number
}

/**
 * Writes the rows of all snapshots, those of each shard after each other. ClickHouse never changes a part, so the store
 * has the chunks of every part that an earlier backup has seen.
 */
async function exportSnapshots(
  snapshots: readonly Snapshot[],
  writer: ObjectWriter,
): Promise<ClickHouseTable[]> {
  const shards = new Set(snapshots.map(({ shard }) => shard))
  const tables = await Promise.all(
    [...shards].map((shard) =>
      exportShard(
        snapshots.filter((snapshot) => snapshot.shard === shard),
        writer,
      ),
    ),
  )
  return tables.flat()
}

async function exportShard(
  snapshots: readonly Snapshot[],
  writer: ObjectWriter,
): Promise<ClickHouseTable[]> {
  const tables: ClickHouseTable[] = []
  for (const snapshot of snapshots) {
    const { database, name, shard, columns } = snapshot
    const chunks: ClickHouseTable['chunks'] = []
    for (const chunk of await readChunks(snapshot)) {
      const object =
        (await writer.find(chunk.identity)) ??
        (await writer.save(chunk.identity, await readRows(snapshot, chunk)))
      chunks.push({ object, rows: chunk.to - chunk.from })
    }
    tables.push({ database, name, shard, columns, chunks })
  }
  return tables
}

async function readChunks({ clickhouse, copy, name, columns }: Snapshot): Promise<Chunk[]> {
  const parts = await clickhouse.rows<{ part: string; rows: number; bytes: number; hash: string }>({
    sql: `SELECT name AS part, rows, bytes_on_disk AS bytes, hash_of_all_files AS hash FROM system.parts
          WHERE database = currentDatabase() AND table = {copy:String} AND active AND rows > 0
          ORDER BY hash, part`,
    params: { copy },
  })
  const columnsHash = hashOf(columns)
  return parts.flatMap(({ part, rows, bytes, hash }) => {
    const count = Math.min(rows, Math.ceil(bytes / chunkBytes))
    const size = Math.ceil(rows / count)
    return Array.from({ length: Math.ceil(rows / size) }, (_, index) => ({
      part,
      identity: `${name}-${hash}-${columnsHash}-${index}-${size}`,
      from: index * size,
      to: Math.min(rows, (index + 1) * size),
    }))
  })
}

/** Columns that a migration adds change the rows of a part, but not the part. */
const hashOf = (columns: readonly Column[]): string =>
  createHash('sha256').update(JSON.stringify(columns)).digest('hex').slice(0, 16)

async function readRows(
  { clickhouse, copy, columns }: Snapshot,
  { part, from, to }: Chunk,
): Promise<Buffer> {
  const { body, rows } = await clickhouse.exportRows({
    sql: `SELECT ${columns.map((column) => column.name).join(', ')} FROM ${copy}
          WHERE _part = {part:String} AND _part_offset >= {from:UInt64} AND _part_offset < {to:UInt64}`,
    params: { part, from, to },
  })
  const bytes = await buffer(body)
  if (rows !== to - from)
    throw new Error(
      `${copy} returned ${rows} rows of the part ${part} instead of ${to - from}: another process has changed it. Start the backup again`,
    )
  return bytes
}
