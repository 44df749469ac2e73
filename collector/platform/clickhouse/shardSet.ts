import { randomUUID } from 'node:crypto'
import type { Postgres } from '../postgres/pool.ts'
import { StartError } from '../startError.ts'
import { ClickHouseRefused, isUnavailable } from '../storeErrors.ts'
import type { Cluster } from './cluster.ts'
import { closeNodes, hostOf, onEach, openNodes, type SchemaNode } from './migrate.ts'

/**
 * The shards with events. The number and order of shards determine the shard of a pixel. So another set, or
 * an empty server instead of a shard, would answer reads with nothing. PostgreSQL stores the id of each shard
 * in order, and each server its own.
 */
type ShardSet = readonly string[]

/** How an operator says that the settings are right, whatever was there before. */
const howToAccept =
  'name the earlier shards. If events of the others may be lost, run npx footfall migrate --accept-shards once'

/** The shards that the first start noted; none before it. */
async function readShardSet(postgres: Postgres, database: string): Promise<ShardSet> {
  const { rows } = await postgres.query<{ shard_id: string }>(
    'SELECT shard_id FROM clickhouse_shards WHERE database = $1 ORDER BY position',
    [database],
  )
  return rows.map(({ shard_id }) => shard_id)
}

/** Forgets which shards there were: the next start notes those of the settings. */
export async function forgetShardSet(postgres: Postgres, database: string): Promise<void> {
  await postgres.query('DELETE FROM clickhouse_shards WHERE database = $1', [database])
}

/**
 * Throws StartError where a cluster's shards are not those that events lie on. Servers that cannot be reached are passed
 * over. Resolves at once where none were noted yet.
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
      `CLICKHOUSE_SHARDS names ${shards.length} shards, but events are on ${known.length}: ${howToAccept}`,
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

/** Notes a cluster's shards, and on each server which it is of. All servers must be there and have their schema. */
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

/** ClickHouse's codes for a table and a database that are not there. */
const unknownCodes = [60, 81]

/** The id of the shard that a server is of; null where it has none. */
async function readShardId({ clickhouse }: SchemaNode): Promise<string | null> {
  try {
    const [found] = await clickhouse.rows<{ shard_id: string }>({
      sql: 'SELECT shard_id FROM shard',
      params: {},
    })
    return found?.shard_id ?? null
  } catch (error) {
    if (error instanceof ClickHouseRefused && unknownCodes.includes(error.code)) return null
    throw error
  }
}

/** The same; undefined where the server cannot be reached. */
async function readReachable(node: SchemaNode): Promise<string | null | undefined> {
  try {
    return await readShardId(node)
  } catch (error) {
    if (isUnavailable(error)) return undefined
    throw error
  }
}
