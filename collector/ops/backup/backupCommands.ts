import type { Config } from '../../config.ts'
import { type ClickHouseAddress, isSharded } from '../../platform/clickhouse/cluster.ts'
import { requireShardSet } from '../../platform/clickhouse/shardSet.ts'
import { readCompleteUntil } from '../../platform/collectors.ts'
import { counted } from '../../platform/counted.ts'
import { packageVersion } from '../../platform/paths.ts'
import { type Lease, LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import { withServers } from '../servers.ts'
import { dumpPostgres, inSnapshot } from './dumpPostgres.ts'
import { exportSnapshots } from './exportSnapshots.ts'
import { bytesOfFiles, isSpooled, saveFiles } from './files.ts'
import {
  type DatabaseKind,
  listBackups,
  type Manifest,
  objectsOf,
  readManifest,
  writeManifest,
} from './manifest.ts'
import { bytesOf, type ObjectStore, ObjectWriter } from './objectStore.ts'
import { openObjectStore } from './openObjectStore.ts'
import { type ShardServer, withShardServers } from './shardServers.ts'
import { dropSnapshots, takeSnapshots } from './snapshotClickHouse.ts'

/** Held by the process that writes or removes backups. */
const backupLease = (database: string): string => `backups of ${database}`

/**
 * Runs `footfall-server backup [DIR]`, with or without a running service. It writes only what the store lacks, so an interrupted
 * backup continues where it stopped.
 *
 * The order makes the backup complete (ops/decisions/0003): spool, PostgreSQL, ClickHouse. Each sees a later time, so
 * ClickHouse has all rows that PostgreSQL refers to.
 */
export const backUp = (config: Config, directory: string | undefined): Promise<void> =>
  withBackups(config, directory, async ({ store, postgres, address, lease }) => {
    const database = config.clickhouseDatabase
    if (isSharded(address)) await requireShardSet(postgres, address, database)
    const writer = new ObjectWriter(store, await store.list('objects'))
    const created_at = new Date().toISOString()
    const manifest = await withShardServers(address, database, async (servers) => {
      await dropSnapshots(servers)
      try {
        const files = await saveFiles(config.dataDir, writer)
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
    const { id } = await writeManifest(store, manifest)
    report(manifest, writer)
    console.log(
      `backup ${id} in ${store.place} is complete. It contains keys and personal data: protect it like the stores.`,
    )
  })

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

function report(
  { clickhouse, postgres, files, complete_until }: Manifest,
  writer: ObjectWriter,
): void {
  const rowsIn = (rows: readonly { rows: number }[]) =>
    counted(
      rows.reduce((sum, each) => sum + each.rows, 0),
      'row',
    )
  console.log(`PostgreSQL: ${counted(postgres.tables.length, 'table')}, ${rowsIn(postgres.tables)}`)
  console.log(
    `ClickHouse: ${counted(clickhouse.shards, 'shard')}, ${rowsIn(clickhouse.tables.flatMap(({ chunks }) => chunks))}`,
  )
  console.log(
    `files: ${bytesOfFiles(files)} bytes, of which ${bytesOfFiles(files.filter(isSpooled))} are events that were not shipped yet`,
  )
  console.log(`all events received before ${complete_until ?? 'the start'} are included`)
  console.log(
    `written: ${objects(writer.written)}; kept from earlier backups: ${objects(writer.reused)}`,
  )
}

const objects = ({ objects, bytes }: ObjectWriter['written']): string =>
  `${counted(objects, 'object')}, ${bytes} bytes`

/** Prints the backups of a store, the newest first. */
export async function printBackups(config: Config, directory: string | undefined): Promise<void> {
  const store = await openObjectStore(config, directory)
  try {
    const backups = await listBackups(store)
    if (backups.length === 0) console.log(`${store.place} contains no complete backup`)
    for (const backup of backups) {
      const manifest = await readManifest(store, backup)
      const bytes = objectsOf(manifest).reduce((sum, object) => sum + bytesOf(object), 0)
      console.log(
        `${backup.id}  complete until ${manifest.complete_until ?? '-'}  ${counted(manifest.clickhouse.shards, 'shard')}  ${bytes} bytes  Footfall ${manifest.version}`,
      )
    }
  } finally {
    store.close()
  }
}

/**
 * Removes all but the newest `keep` backups, and every object that the remaining ones do not refer to. It removes nothing
 * if one of these is damaged.
 */
export const pruneBackups = (
  config: Config,
  directory: string | undefined,
  keep: string,
): Promise<void> => {
  if (!/^[1-9]\d{0,5}$/.test(keep))
    throw new StartError(`--keep must be a whole number from 1, not "${keep}"`)
  return withBackups(config, directory, async ({ store, lease }) => {
    const backups = await listBackups(store)
    const kept = backups.slice(0, Number(keep))
    const needed = new Set<string>()
    for (const backup of kept)
      for (const object of objectsOf(await readManifest(store, backup))) needed.add(object)
    const unused = [...(await store.list('objects')).keys()].filter((name) => !needed.has(name))
    await lease.renew()
    const removed = backups.slice(kept.length)
    await store.remove(
      'backups',
      removed.map(({ file }) => file),
    )
    await store.remove('objects', unused)
    console.log(
      `removed ${counted(removed.length, 'backup')} and ${counted(unused.length, 'object')}; kept ${counted(kept.length, 'backup')}`,
    )
  })
}

interface Opened {
  readonly store: ObjectStore
  readonly postgres: Postgres
  readonly address: ClickHouseAddress
  readonly lease: Lease
}

/** Runs `work` as the only process that changes the backups of this installation. */
async function withBackups(
  config: Config,
  directory: string | undefined,
  work: (opened: Opened) => Promise<void>,
): Promise<void> {
  const store = await openObjectStore(config, directory)
  try {
    await withServers(config, async ({ clickhouse: address, postgresUrl }) => {
      const postgres = openPostgres(postgresUrl, () => {})
      try {
        await withLease(
          postgres,
          backupLease(config.clickhouseDatabase),
          (lease) => work({ store, postgres, address, lease }).catch(explain),
          leaseWaitMs,
        ).catch(refused('another process is writing or removing backups: wait until it ends'))
      } finally {
        await postgres.end()
      }
    })
  } finally {
    store.close()
  }
}

/** The lease of a killed process ends within this time. */
const leaseWaitMs = 16_000

/** Rethrows an error. If a store has become unavailable, it tells how to continue. */
function explain(error: Error): never {
  throw isUnavailable(error)
    ? new StartError(
        `a store cannot be reached any more (${error.message}). Earlier backups are complete. Run the command again: it writes only the missing data`,
      )
    : error
}

/** Returns a handler that reports a held lease in the operator's words. */
const refused =
  (message: string) =>
  (error: unknown): never => {
    throw error instanceof LeaseHeldError ? new StartError(message) : error
  }
