import { StartError } from '../startError.ts'
import type { ClickHouse } from './client.ts'
import { type ClickHouseAddress, type Cluster, eventsTable, isSharded } from './cluster.ts'
import { shardingKey } from './shards.ts'

/**
 * Throws StartError if the address has several shards but the database was created for one server, or the
 * reverse.
 */
export async function requireLayout(
  clickhouse: ClickHouse,
  address: ClickHouseAddress,
): Promise<void> {
  const [events] = await clickhouse.rows<{ engine: string }>({
    sql: "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'events'",
  })
  if (!events || isSharded(address) === (events.engine === 'Distributed')) return
  throw new StartError(
    isSharded(address)
      ? `the database ${clickhouse.database} has its events on one server: use another database for shards (CLICKHOUSE_DATABASE)`
      : `the database ${clickhouse.database} has its events on several shards: name them all in CLICKHOUSE_SHARDS`,
  )
}

interface Replica {
  shard_num: number
  address: string
  default_database: string
  shard_weight: number
}

const replicasOf = (clickhouse: ClickHouse, { name }: Cluster): Promise<Replica[]> =>
  clickhouse.rows<Replica>({
    sql: `SELECT shard_num, concat(host_name, ':', toString(port)) AS address, default_database,
            shard_weight
          FROM system.clusters
          WHERE cluster = {name:String} ORDER BY shard_num, replica_num`,
    params: { name },
  })

/** Throws StartError if `remote_servers` of a server differs from CLICKHOUSE_SHARDS. */
export async function requireCluster(
  clickhouse: ClickHouse,
  { name, shards }: Cluster,
  shard: number,
  database: string,
): Promise<void> {
  const replicas = await replicasOf(clickhouse, { name, shards })
  const numbers = [...new Set(replicas.map(({ shard_num }) => shard_num))]
  const found = numbers
    .map((number) => replicas.filter(({ shard_num }) => shard_num === number).length)
    .join(' + ')
  const named = shards.map(({ length }) => length).join(' + ')
  if (found !== named) {
    throw new StartError(
      `CLICKHOUSE_SHARDS names ${named} servers, but remote_servers of its configuration has ${found || 'none'} as cluster "${name}" (CLICKHOUSE_CLUSTER)`,
    )
  }
  // ClickHouse resolves the dictionaries of a query in the default database.
  if (
    shards.length > 1 &&
    !replicas.every(({ default_database }) => default_database === database)
  ) {
    throw new StartError(
      `each replica of cluster "${name}" needs <default_database>${database}</default_database> (CLICKHOUSE_DATABASE) in remote_servers of its configuration`,
    )
  }
  // `shardOf` (shards.ts) computes the shard of a project without weights.
  if (replicas.some(({ shard_weight }) => shard_weight !== 1)) {
    throw new StartError(
      `the shards of cluster "${name}" must not have a <weight> in remote_servers`,
    )
  }
  const own = await ownShard(clickhouse, name, replicas)
  if (own !== undefined && own !== shard + 1) {
    throw new StartError(
      `CLICKHOUSE_SHARDS has it in shard ${shard + 1}, but remote_servers of its configuration has it in shard ${own}`,
    )
  }
}

/**
 * Returns the server's shard, from 1, by its own configuration, or undefined if the server cannot reach
 * itself.
 */
async function ownShard(
  clickhouse: ClickHouse,
  name: string,
  replicas: readonly Replica[],
): Promise<number | undefined> {
  // Machines may have equal host names; the local ClickHouse has no UUID.
  const server = "concat(hostName(), ' ', toString(tcpPort()), ' ', toString(serverUUID()))"
  const [itself] = await clickhouse.rows<{ server: string }>({
    sql: `SELECT ${server} AS server`,
  })
  // `_shard_num` of clusterAllReplicas counts the replicas of all shards.
  const found = await clickhouse.rows<{ number: number; server: string }>({
    sql: `SELECT _shard_num AS number, ${server} AS server FROM clusterAllReplicas('${name}', system.one)
          SETTINGS skip_unavailable_shards = 1`,
  })
  const place = found.find(({ server }) => server === itself!.server)
  return place && replicas[place.number - 1]?.shard_num
}

/** Returns the native addresses of the first shard's servers in the syntax of remote(). */
export const addressesOfFirstShard = async (
  clickhouse: ClickHouse,
  cluster: Cluster,
): Promise<string> =>
  (await replicasOf(clickhouse, cluster))
    .filter(({ shard_num }) => shard_num === 1)
    .map(({ address }) => address)
    .join('|')

/** Creates `events`, the Distributed table over the events of all shards, or replaces it if it differs. */
export async function syncDistributed(clickhouse: ClickHouse, cluster: Cluster): Promise<void> {
  const own = eventsTable(cluster)
  const engine = `Distributed('${cluster.name}', '${clickhouse.database}', '${own}', ${shardingKey('project_id')})`
  const tables = await clickhouse.rows<{ table: string; columns: string[] }>({
    sql: `SELECT table, groupArray(concat(name, ' ', type, ' ', default_kind, ' ', default_expression)) AS columns
          FROM (SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY position)
          WHERE table IN ('events', {own:String}) GROUP BY table`,
    params: { own },
  })
  const [present] = await clickhouse.rows<{ engine: string }>({
    sql: "SELECT engine_full AS engine FROM system.tables WHERE database = currentDatabase() AND name = 'events'",
  })
  const forms = new Set(tables.map(({ columns }) => columns.join('\n')))
  if (present?.engine === engine && tables.length === 2 && forms.size === 1) return
  await clickhouse.command({
    sql: `CREATE OR REPLACE TABLE events AS ${own} ENGINE = ${engine}`,
  })
}
