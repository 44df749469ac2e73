import type { Postgres } from '../postgres/pool.ts'
import { ClickHouseRefused, isUnavailable } from '../storeErrors.ts'
import {
  type ClickHouseAddress,
  type Cluster,
  firstShard,
  isSharded,
  testDatabaseOf,
} from './cluster.ts'
import { requireCluster } from './distributed.ts'
import {
  closeNodes,
  hostOf,
  makeDatabase,
  migrateClickHouse,
  migrationNames,
  onEach,
  openNodes,
  requireUpgradable,
} from './migrate.ts'
import { noteShardSet, requireShardSet } from './shardSet.ts'

/** Any number that no other advisory lock in our PostgreSQL database uses. */
const schemaLock = 7_306_110

/**
 * Upgrades the database `name` and the database of test keys. For a cluster, an advisory lock of PostgreSQL
 * admits one process at a time. If a server is unavailable and all others are current, it reports that server
 * and succeeds. Throws StartError if the configured shards differ from the shards that hold events.
 */
export async function migrateDatabases(
  address: ClickHouseAddress,
  name: string,
  postgres: Postgres,
  tellAway: (servers: readonly string[]) => void,
): Promise<void> {
  if (typeof address === 'string') return migrateBoth(address, name)
  if (isSharded(address)) await requireShardSet(postgres, address, name)
  const away = await findAway(address, name)
  if (away.length > 0) return tellAway(away)
  await underSchemaLock(postgres, async () => {
    await migrateBoth(address, name)
    if (isSharded(address)) await noteShardSet(postgres, address, name)
  })
}

async function underSchemaLock(postgres: Postgres, work: () => Promise<void>): Promise<void> {
  const client = await postgres.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [schemaLock])
    await work()
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [schemaLock]).catch(() => {})
    client.release()
  }
}

const migrateBoth = async (address: ClickHouseAddress, name: string): Promise<void> => {
  await Promise.all([
    migrateClickHouse(address, name),
    migrateClickHouse(firstShard(address), testDatabaseOf(name)),
  ])
}

const isUnknown = (error: unknown): boolean =>
  error instanceof ClickHouseRefused && (error.code === 60 || error.code === 81)

/**
 * Returns the unavailable servers, if all others are current and include a server of the first shard. Returns
 * none if migrations are pending, because these would fail. Throws StartError if a server's cluster differs
 * from CLICKHOUSE_SHARDS, or if this version cannot upgrade a server.
 */
async function findAway(cluster: Cluster, name: string): Promise<string[]> {
  const nodes = openNodes(cluster, 'default')
  try {
    // Servers connect to each other with this default database, and may crash if it does not exist.
    await onEach(nodes, ({ url }) =>
      makeDatabase(url, name).catch((error) => {
        if (!isUnavailable(error)) throw error
      }),
    )
    const found = await onEach(nodes, async ({ clickhouse, shard, url }) => {
      try {
        await requireCluster(clickhouse, cluster, shard, name)
        const rows = await clickhouse.rows<{ name: string }>({
          sql: `SELECT name FROM ${name}.migrations`,
        })
        const recorded = new Set(rows.map((row) => row.name))
        requireUpgradable(recorded)
        return {
          shard,
          isAway: false,
          isCurrent: migrationNames().every((migration) => recorded.has(migration)),
        }
      } catch (error) {
        if (isUnavailable(error))
          return { shard, isAway: true, isCurrent: false, host: hostOf({ url }) }
        if (isUnknown(error)) return { shard, isAway: false, isCurrent: false }
        throw error
      }
    })
    const isSufficient =
      found.every(({ isAway, isCurrent }) => isAway || isCurrent) &&
      found.some(({ shard, isCurrent }) => shard === 0 && isCurrent)
    return isSufficient ? found.flatMap(({ host }) => host ?? []) : []
  } finally {
    await closeNodes(nodes)
  }
}
