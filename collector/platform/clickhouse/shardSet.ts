import { randomUUID } from 'node:crypto'
import type { Postgres } from '../postgres/pool.ts'
import { StartError } from '../startError.ts'
import { ClickHouseRefused, isUnavailable } from '../storeErrors.ts'
import type { Cluster } from './cluster.ts'
import { closeNodes, hostOf, onEach, openNodes, type SchemaNode } from './migrate.ts'

/**
 * The ids of the shards that hold events. The number and order of shards determine the shard of a project. With
 * other shards, or an empty server as a shard, reads would return too few events. PostgreSQL stores the ids
 * in order, and each server stores its own id.
 */
type ShardSet = readonly string[]

/** Tells the operator how to accept the new settings. */
const howToAccept =
  'name the earlier shards. If events of the others may be lost, run npx footfall-server migrate --accept-shards once'

/** Reads the recorded shards in order; empty before the first start. */
async function readShardSet(postgres: Postgres, database: string): Promise<ShardSet> {
  const { rows } = await postgres.query<{ shard_id: string }>(
    'SELECT shard_id FROM clickhouse_shards WHERE database = $1 ORDER BY position',
    [database],
  )
  return rows.map(({ shard_id }) => shard_id)
}

/** Deletes the recorded shards, so that the next start records those of the settings. */
export async function forgetShardSet(postgres: Postgres, database: string): Promise<void> {
  await postgres.query('DELETE FROM clickhouse_shards WHERE database = $1', [database])
}

/**
 * Throws StartError if the configured shards differ from the shards that hold events. Unreachable servers are
 * ignored. Resolves at once if no shards are recorded.
 */
export async function requireShardSet(
  postgres: Postgres,
  cluster: Cluster,
  database: string,
): Promise<void> {
  const known = await readShardSet(postgres, database)
  if (known.length === 0) return
  const { shards } = cluster
  if (known.length !== shards.length) {
    throw new StartError(
      `CLICKHOUSE_SHARDS names ${shards.length} shards, but events are on ${known.length}: ${howToAccept}. To add shards, see “Grow” in Several machines`,
    )
  }
  const nodes = openNodes(cluster, database)
  try {
    const found = await onEach(nodes, async (node) => ({ node, id: await readReachable(node) }))
    for (const [position, id] of known.entries()) {
      const ofShard = found.filter(({ node, id }) => node.shard === position && id !== undefined)
      const other = ofShard.find((one) => one.id !== null && one.id !== id)
      if (other) {
        const place = known.indexOf(other.id!)
        throw new StartError(
          place < 0
            ? `${hostOf(other.node)} holds events of another installation: ${howToAccept}`
            : `${hostOf(other.node)} is shard ${position + 1} in CLICKHOUSE_SHARDS, but its events are those of shard ${place + 1}: ${howToAccept}`,
        )
      }
      if (ofShard.length > 0 && ofShard.every((one) => one.id === null)) {
        throw new StartError(
          `${hostOf(ofShard[0]!.node)} is shard ${position + 1} in CLICKHOUSE_SHARDS, but has none of its events: ${howToAccept}`,
        )
      }
    }
  } finally {
    await closeNodes(nodes)
  }
}

/**
 * Records a cluster's shards in PostgreSQL, and on each server the id of its shard. Requires that all servers
 * are available and migrated.
 */
export async function noteShardSet(
  postgres: Postgres,
  cluster: Cluster,
  database: string,
): Promise<void> {
  const known = await readShardSet(postgres, database)
  const nodes = openNodes(cluster, database)
  try {
    const ids = await onEach(nodes, readShardId)
    const set = cluster.shards.map(
      (_, position) =>
        known[position] ??
        ids.find((id, index) => id !== null && nodes[index]!.shard === position) ??
        randomUUID(),
    )
    await onEach(nodes, async ({ clickhouse, shard, ...node }) => {
      if (ids[nodes.findIndex(({ url }) => url === node.url)] === set[shard]) return
      await clickhouse.command({
        sql: 'CREATE OR REPLACE TABLE shard ENGINE = MergeTree ORDER BY () AS SELECT {id:UUID} AS shard_id',
        params: { id: set[shard] },
      })
    })
    for (const [position, id] of set.entries()) {
      await postgres.query(
        `INSERT INTO clickhouse_shards (database, position, shard_id) VALUES ($1, $2, $3)
         ON CONFLICT (database, position) DO NOTHING`,
        [database, position, id],
      )
    }
  } finally {
    await closeNodes(nodes)
  }
}

/** ClickHouse's codes for an unknown table and an unknown database. */
const unknownCodes = [60, 81]

/** Reads the id of a server's shard; null if the server has none. */
async function readShardId({ clickhouse }: SchemaNode): Promise<string | null> {
  try {
    const [found] = await clickhouse.rows<{ shard_id: string }>({
      sql: 'SELECT shard_id FROM shard',
    })
    return found?.shard_id ?? null
  } catch (error) {
    if (error instanceof ClickHouseRefused && unknownCodes.includes(error.code)) return null
    throw error
  }
}

/** Reads the id of a server's shard; undefined if the server is unreachable. */
async function readReachable(node: SchemaNode): Promise<string | null | undefined> {
  try {
    return await readShardId(node)
  } catch (error) {
    if (isUnavailable(error)) return undefined
    throw error
  }
}
