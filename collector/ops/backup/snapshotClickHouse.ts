import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type ClickHouseAddress, isReplicated } from '../../platform/clickhouse/cluster.ts'
import { createLike } from '../../platform/clickhouse/createLike.ts'
import { syncReplica } from '../../platform/clickhouse/replicated.ts'
import { eventsOfShard } from '../../platform/clickhouse/shards.ts'
import type { ClickHouseTable, Column } from './manifest.ts'
import type { ShardServer } from './shardServers.ts'

/** The unchanging copy of a table, whose parts are links to the files of the original. */
export interface Snapshot extends Omit<ClickHouseTable, 'chunks'> {
  readonly clickhouse: ClickHouse
  readonly copy: string
}

/** How the names of the copies begin. */
export const snapshotStart = 'backup_'

/** Not in a backup: records of the schema, temporary tables, and hits, which events rebuild. */
const isOwnRows = `engine LIKE '%MergeTree' AND name NOT IN ('migrations', 'shard', 'hits')
  AND NOT startsWith(name, '${snapshotStart}') AND NOT startsWith(name, 'load_')`

/** Copies all tables of these servers. The copies need no space at first; `dropSnapshots` deletes them. */
export async function takeSnapshots(
  servers: readonly ShardServer[],
  address: ClickHouseAddress,
): Promise<Snapshot[]> {
  const snapshots = await Promise.all(servers.map((server) => takeSnapshot(server, address)))
  return snapshots.flat()
}

async function takeSnapshot(
  { kind, shard, clickhouse }: ShardServer,
  address: ClickHouseAddress,
): Promise<Snapshot[]> {
  const tables = await clickhouse.rows<{ table: string; columns: [string, string][] }>({
    sql: `SELECT table, groupArray((name, type)) AS columns
          FROM (SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY table, position)
          WHERE table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND ${isOwnRows})
            AND default_kind IN ('', 'DEFAULT')
          GROUP BY table ORDER BY table`,
  })
  const snapshots: Snapshot[] = []
  for (const { table: name, columns } of tables) {
    const copy = `${snapshotStart}${name}`
    // An insert is complete when most replicas have it, and this one may be behind.
    if (isReplicated(address)) await syncReplica(clickhouse, name)
    // Merges would change the parts, and remove rows whose time is over.
    await createLike(clickhouse, copy, name, {
      isWithoutTtl: true,
      settings: ['max_bytes_to_merge_at_max_space_in_pool = 1'],
    })
    await run(clickhouse, `ALTER TABLE ${copy} ATTACH PARTITION ALL FROM ${name}`)
    snapshots.push({
      clickhouse,
      copy,
      database: kind,
      shard,
      name: name === eventsOfShard ? 'events' : name,
      columns: columns.map(([name, type]): Column => ({ name, type })),
    })
  }
  return snapshots
}

/** Deletes the copies, also those of an interrupted backup. */
export async function dropSnapshots(servers: readonly ShardServer[]): Promise<void> {
  for (const { clickhouse } of servers) {
    const left = await clickhouse.rows<{ name: string }>({
      sql: `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, '${snapshotStart}')`,
    })
    for (const { name } of left) await run(clickhouse, `DROP TABLE IF EXISTS ${name} SYNC`)
  }
}

const run = (clickhouse: ClickHouse, sql: string): Promise<void> => clickhouse.command({ sql })
