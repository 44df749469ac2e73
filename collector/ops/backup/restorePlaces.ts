import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { ClickHouseAddress } from '../../platform/clickhouse/cluster.ts'
import { type Cluster, isSharded, openForShipping } from '../../platform/clickhouse/cluster.ts'
import { noteShardSet } from '../../platform/clickhouse/shardSet.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { readPlaces, writePlaces } from '../shards/recordPlaces.ts'

/** The records of a backed up cluster about its shards. */
interface KnownShards {
  /** The share of new pixels of each shard, in order. */
  readonly weights: readonly number[]
  /** Whether PostgreSQL stored the shard of each pixel. Otherwise the hash of its id decides. */
  readonly arePlacesRecorded: boolean
}

/**
 * Records the shards of the restored cluster instead of those of the backup. With as many shards as before, pixels and
 * weights stay. Otherwise the hash of a pixel's id decides, as in a new cluster.
 */
export async function restorePlaces(
  postgres: Postgres,
  address: ClickHouseAddress,
  database: string,
): Promise<void> {
  const known = await forgetShards(postgres)
  if (!isSharded(address)) return
  await noteShardSet(postgres, address, database)
  if (known.weights.length !== address.shards.length) return
  for (const [position, weight] of known.weights.entries())
    await postgres.query(
      'UPDATE clickhouse_shards SET weight = $3 WHERE database = $1 AND position = $2',
      [database, position, weight],
    )
  if (!known.arePlacesRecorded) return
  // Also pixels whose first event came after the snapshot of PostgreSQL.
  const places = await withShards(address, database, postgres, readPlaces)
  await inTransaction(postgres, (client) => writePlaces(client, database, places))
}

/** Deletes all records of shards. */
const forgetShards = (postgres: Postgres): Promise<KnownShards> =>
  inTransaction(postgres, async (client) => {
    const { rows } = await client.query<{ weight: number }>(
      'SELECT weight FROM clickhouse_shards ORDER BY position',
    )
    const { rowCount } = await client.query('SELECT FROM shard_placements')
    await client.query(
      'DELETE FROM clickhouse_shards; DELETE FROM pixel_shards; DELETE FROM shard_placements; DELETE FROM shard_moves',
    )
    return { weights: rows.map(({ weight }) => weight), arePlacesRecorded: rowCount !== 0 }
  })

async function withShards<T>(
  cluster: Cluster,
  database: string,
  postgres: Postgres,
  work: (shards: readonly ClickHouse[]) => Promise<T>,
): Promise<T> {
  const clickhouse = openForShipping(cluster, database, postgres)
  return work(clickhouse.shards).finally(clickhouse.close)
}
