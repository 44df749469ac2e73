import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import {
  type ClickHouseAddress,
  isSharded,
  testDatabaseOf,
} from '../../platform/clickhouse/cluster.ts'
import { requireCluster } from '../../platform/clickhouse/distributed.ts'
import { missingGrants } from '../../platform/clickhouse/grants.ts'
import { collectionNames } from '../../platform/clickhouse/login.ts'
import {
  closeNodes,
  hostOf,
  migrationNames,
  openNodes,
  type SchemaNode,
} from '../../platform/clickhouse/migrate.ts'
import { requireShardSet } from '../../platform/clickhouse/shardSet.ts'
import { counted } from '../../platform/counted.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { snapshotStart } from '../backup/snapshotClickHouse.ts'
import { askAll, clockFinding, type Finding, finding, gigabytes, schemaFinding } from './finding.ts'

const freeShareMin = 0.1

/** Checks whether a cluster's shards are the shards that hold events. */
export async function examineShards(
  address: ClickHouseAddress,
  database: string,
  postgres: Postgres,
): Promise<Finding[]> {
  if (!isSharded(address)) return []
  try {
    await requireShardSet(postgres, address, database)
    return [finding(`the ${address.shards.length} shards of CLICKHOUSE_SHARDS contain events`)]
  } catch (error) {
    if (error instanceof StartError) return [finding('the shards', error.message)]
    throw error
  }
}

/** Checks all servers of a cluster, each under its name. */
export async function examineClickHouse(
  address: ClickHouseAddress,
  database: string,
): Promise<Finding[]> {
  const nodes = openNodes(address, 'default')
  try {
    const found = await Promise.all(nodes.map((node) => examineNode(node, address, database)))
    return found.flat()
  } finally {
    void closeNodes(nodes)
  }
}

function examineNode(
  node: SchemaNode,
  address: ClickHouseAddress,
  database: string,
): Promise<Finding[]> {
  const { clickhouse, shard } = node
  const isSingle = typeof address === 'string'
  const name = isSingle ? 'ClickHouse' : `ClickHouse ${hostOf(node)}`
  return askAll(name, isSingle ? 'CLICKHOUSE_URL' : 'CLICKHOUSE_SHARDS', async () => {
    if (typeof address !== 'string') await requireCluster(clickhouse, address, shard, database)
    return [
      ...(await examineServer(clickhouse, name)),
      await examineGrants(node, name, address, database),
      await examineSystemLogs(clickhouse, name, database),
      ...(await examineSchema(clickhouse, name, database)),
      ...(await examineSnapshots(clickhouse, name, database)),
    ]
  })
}

const ask = <Row>(
  server: ClickHouse,
  sql: string,
  params: Record<string, unknown> = {},
): Promise<Row[]> => server.rows<Row>({ sql, params })

async function examineServer(server: ClickHouse, name: string): Promise<Finding[]> {
  await ask(server, 'SELECT 1') // The connection is open, so the next response measures only the round trip.
  const sentAt = Date.now()
  const [state] = await ask<{ now: number; version: string }>(
    server,
    'SELECT toUnixTimestamp64Milli(now64(3)) AS now, version() AS version',
  )
  const receivedAt = Date.now()
  const disks = await ask<{ name: string; free: number; total: number }>(
    server,
    "SELECT name, toFloat64(free_space) AS free, toFloat64(total_space) AS total FROM system.disks WHERE type = 'Local'",
  )
  return [
    finding(`${name} ${state!.version} answers in ${receivedAt - sentAt} ms`),
    clockFinding(name, Number(state!.now), sentAt, receivedAt),
    ...disks.map(({ name: disk, free, total }) =>
      finding(
        `${name}'s disk ${disk} has ${gigabytes(free)} of ${gigabytes(total)} free`,
        free < total * freeShareMin
          ? 'make it larger: merges need room, and without merges inserts stop'
          : null,
      ),
    ),
  ]
}

async function examineGrants(
  { clickhouse, url }: SchemaNode,
  name: string,
  address: ClickHouseAddress,
  database: string,
): Promise<Finding> {
  const collections = [database, testDatabaseOf(database)].map((each) => collectionNames(each).own)
  if (isSharded(address)) collections.push(collectionNames(database).firstShard)
  const missing = await missingGrants(
    clickhouse,
    [database, testDatabaseOf(database)],
    new URL(url).password === '' ? [] : collections,
    typeof address !== 'string',
  )
  return finding(
    `the login has the required rights in ${name}`,
    missing.length > 0 ? `missing: ${missing.join('; ')}` : null,
  )
}

/** Smaller logs are no trouble, even in an installation without events. */
const systemLogBytesMax = 1024 ** 3

/** Compares ClickHouse's own logs with the events. Without a limit they grow for ever. */
export async function examineSystemLogs(
  server: ClickHouse,
  name: string,
  database: string,
  bytesMax = systemLogBytesMax,
): Promise<Finding> {
  const [sizes] = await ask<{ logs: number; events: number }>(
    server,
    `SELECT toFloat64(sumIf(total_bytes, database = 'system')) AS logs,
       toFloat64(sumIf(total_bytes, database = {database:String})) AS events
     FROM system.tables WHERE database IN ('system', {database:String}) AND total_bytes > 0`,
    { database },
  )
  const { logs, events } = sizes!
  return finding(
    `the system logs of ${name} have ${gigabytes(logs)}, and its events ${gigabytes(events)}`,
    logs > Math.max(events, bytesMax)
      ? 'limit the logs with examples/deploy/clickhouse/system-logs.xml, which the service shows at /docs/examples/deploy/clickhouse/system-logs.xml. Then drop the tables system.…_log that it removes'
      : null,
  )
}

async function examineSchema(
  server: ClickHouse,
  name: string,
  database: string,
): Promise<Finding[]> {
  const params = { database }
  const [there] = await ask(
    server,
    "SELECT name FROM system.tables WHERE database = {database:String} AND name = 'migrations'",
    params,
  )
  if (!there) return [schemaFinding(name, [], migrationNames())]
  const applied = await ask<{ name: string }>(server, `SELECT name FROM ${database}.migrations`)
  const dictionaries = await ask<{ name: string; last_exception: string }>(
    server,
    "SELECT name, last_exception FROM system.dictionaries WHERE database = {database:String} AND last_exception != ''",
    params,
  )
  const mutations = await ask<{ table: string; latest_fail_reason: string }>(
    server,
    `SELECT table, latest_fail_reason FROM system.mutations
     WHERE database = {database:String} AND NOT is_done AND latest_fail_reason != ''`,
    params,
  )
  const broken = await ask<{ table: string; parts: number }>(
    server,
    `SELECT table, toUInt32(count()) AS parts FROM system.detached_parts
     WHERE database = {database:String} AND startsWith(reason, 'broken') GROUP BY table`,
    params,
  )
  return [
    schemaFinding(
      name,
      applied.map((migration) => migration.name),
      migrationNames(),
    ),
    ...dictionaries.map(({ name: dictionary, last_exception }) =>
      finding(`the dictionary ${dictionary} of ${name} cannot be read`, firstLine(last_exception)),
    ),
    ...mutations.map(({ table, latest_fail_reason }) =>
      finding(`a mutation of ${table} fails`, firstLine(latest_fail_reason)),
    ),
    ...broken.map(({ table, parts }) =>
      finding(
        `${parts} parts of ${table} are damaged and detached`,
        'their rows are missing: restore them from a backup',
      ),
    ),
  ]
}

/**
 * Finds the snapshots of a backup that was killed. They keep the files of deleted rows on the disk. A backup that runs
 * has snapshots too, so only older ones count.
 */
export async function examineSnapshots(
  server: ClickHouse,
  name: string,
  database: string,
  olderThanSeconds = daySeconds,
): Promise<Finding[]> {
  const [left] = await ask<{ tables: number; since: string }>(
    server,
    `SELECT toUInt32(count()) AS tables, toString(toDate(min(metadata_modification_time))) AS since
     FROM system.tables
     WHERE database = {database:String} AND startsWith(name, {start:String})
       AND metadata_modification_time <= now() - {seconds:UInt32}
     HAVING tables > 0`,
    { database, start: snapshotStart, seconds: olderThanSeconds },
  )
  if (!left) return []
  return [
    finding(
      `${counted(left.tables, 'snapshot')} of an interrupted backup of ${left.since} in ${name}`,
      'they keep deleted rows on the disk. The next npx footfall-server backup removes them',
    ),
  ]
}

const daySeconds = 86_400

const firstLine = (text: string): string => text.split('\n')[0]!
