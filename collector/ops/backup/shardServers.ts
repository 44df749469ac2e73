import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import {
  type ClickHouseAddress,
  firstShard,
  testDatabaseOf,
} from '../../platform/clickhouse/cluster.ts'
import {
  closeNodes,
  hostOf,
  openNodes,
  type SchemaNode,
} from '../../platform/clickhouse/migrate.ts'
import { StartError } from '../../platform/startError.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import type { DatabaseKind } from './manifest.ts'

/** One server of a shard, which backups read and restores write. Replicas have the same rows. */
export interface ShardServer {
  readonly kind: DatabaseKind
  /** From 0. */
  readonly shard: number
  readonly clickhouse: ClickHouse
}

/**
 * Runs `work` with an available server of each shard: its database of live events, and the first shard's database of
 * test keys. Throws StartError if no server of a shard is available.
 */
export async function withShardServers<T>(
  address: ClickHouseAddress,
  database: string,
  work: (servers: readonly ShardServer[]) => Promise<T>,
): Promise<T> {
  const live = openNodes(address, database)
  const test = openNodes(firstShard(address), testDatabaseOf(database))
  try {
    const servers = [...(await pickServers('live', live)), ...(await pickServers('test', test))]
    return await work(servers)
  } finally {
    await closeNodes([...live, ...test])
  }
}

async function pickServers(
  kind: DatabaseKind,
  nodes: readonly SchemaNode[],
): Promise<ShardServer[]> {
  const picked = new Map<number, ShardServer>()
  for (const { shard, clickhouse } of nodes)
    if (!picked.has(shard) && (await isThere(clickhouse)))
      picked.set(shard, { kind, shard, clickhouse })
  const away = nodes.find(({ shard }) => !picked.has(shard))
  if (away) throw unreachable(away)
  return [...picked.values()]
}

export const unreachable = (node: SchemaNode): StartError =>
  new StartError(`${hostOf(node)} of ClickHouse cannot be reached: start it, then try again`)

/** Whether the server answers. Its refusals, such as of a wrong password, are thrown. */
async function isThere(clickhouse: ClickHouse): Promise<boolean> {
  try {
    await clickhouse.rows({ sql: 'SELECT 1' })
    return true
  } catch (error) {
    if (isUnavailable(error)) return false
    throw error
  }
}
