import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Cluster } from '../../platform/clickhouse/cluster.ts'
import { migrateNewShards } from '../../platform/clickhouse/migrateDatabases.ts'
import { changeLease, eventsOfShard } from '../../platform/clickhouse/placement.ts'
import { noteShardSet, readShardSet, requireShardSet } from '../../platform/clickhouse/shardSet.ts'
import { withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { arePlacesRecorded, recordPlaces } from './recordPlaces.ts'

/**
 * Adds the last shards of `cluster`, which are new and empty. Pixels stay on their shards. The new shards have the
 * weight 0, so that no process needs them before it has restarted with the new settings. Returns the numbers of the new
 * shards, from 1. Throws StartError if the servers do not fit.
 */
export async function addShards(
  postgres: Postgres,
  clickhouse: ClickHouse,
  cluster: Cluster,
): Promise<number[]> {
  const { database } = clickhouse
  return withLease(postgres, changeLease(database), async () => {
    const known = await readShardSet(postgres, database)
    const { length } = cluster.shards
    if (known.length === 0)
      throw new StartError('no shards are recorded yet: start the service once with the first ones')
    if (length <= known.length)
      throw new StartError(
        `CLICKHOUSE_SHARDS names ${length} shards, and events are on ${known.length}: add the new shards at its end`,
      )
    const earlier = { ...cluster, shards: cluster.shards.slice(0, known.length) }
    await requireShardSet(postgres, earlier, database)
    await migrateNewShards(cluster, database, postgres)
    for (const [index, shard] of clickhouse.shards.entries())
      if (index >= known.length) await requireEmpty(shard, index)
    if (!(await arePlacesRecorded(postgres, database)))
      await recordPlaces(postgres, clickhouse, clickhouse.shards.slice(0, known.length))
    await noteShardSet(postgres, cluster, database, 0)
    return Array.from({ length: length - known.length }, (_, index) => known.length + index + 1)
  })
}

async function requireEmpty(shard: ClickHouse, index: number): Promise<void> {
  const [found] = await shard.rows<{ events: number }>({
    sql: `SELECT count() AS events FROM ${eventsOfShard}`,
    params: {},
  })
  if (found!.events > 0)
    throw new StartError(
      `shard ${index + 1} of CLICKHOUSE_SHARDS has ${found!.events} events: a new shard must be empty`,
    )
}
