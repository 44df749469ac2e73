import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import {
  type ClickHouseAddress,
  eventsTable,
  firstShard,
  testDatabaseOf,
} from '../../platform/clickhouse/cluster.ts'
import { createLike } from '../../platform/clickhouse/createLike.ts'
import { requireCluster } from '../../platform/clickhouse/distributed.ts'
import {
  closeNodes,
  hostOf,
  makeDatabase,
  makeTablesOf,
  migrateClickHouse,
  onEach,
  openNodes,
  type SchemaNode,
} from '../../platform/clickhouse/migrate.ts'
import { StartError } from '../../platform/startError.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import type { ClickHouseManifest, ClickHouseTable, DatabaseKind } from './manifest.ts'
import { type ObjectStore, readObject } from './objectStore.ts'
import { type ShardServer, unreachable, withShardServers } from './shardServers.ts'

export interface Target {
  readonly address: ClickHouseAddress
  readonly database: string
}

interface Stage {
  readonly clickhouse: ClickHouse
  readonly table: string
  readonly name: string
}

const stageStart = 'restore_'

/**
 * Throws StartError unless all servers are available, have no tables in our databases, and fit CLICKHOUSE_SHARDS. Creates
 * the database of events, because servers of a cluster cannot reach each other without it.
 */
export async function requireEmptyClickHouse({ address, database }: Target): Promise<void> {
  const nodes = openNodes(address, 'default')
  try {
    for (const node of nodes) {
      const [found] = await node.clickhouse
        .rows<{ database: string }>({
          sql: 'SELECT database FROM system.tables WHERE database IN {databases:Array(String)} LIMIT 1',
          params: { databases: [database, testDatabaseOf(database)] },
        })
        .catch(orAway(node))
      if (found)
        throw new StartError(
          `ClickHouse at ${hostOf(node)} already has tables in ${found.database}: restore into empty databases (CLICKHOUSE_DATABASE), or drop it`,
        )
    }
    if (typeof address === 'string') return
    for (const { url } of nodes) await makeDatabase(url, database)
    await onEach(nodes, ({ clickhouse, shard }) =>
      requireCluster(clickhouse, address, shard, database),
    )
  } finally {
    await closeNodes(nodes)
  }
}

/** Returns a handler that names a server that cannot be reached. */
const orAway =
  (node: SchemaNode) =>
  (error: unknown): never => {
    throw isUnavailable(error) ? unreachable(node) : error
  }

/**
 * Restores the tables of a backup into as many empty servers, and upgrades them to this version's schema. Each server
 * gets the rows that its predecessor had.
 *
 * Rows are inserted into copies of the tables, whose parts are attached at the end. Inserts into the tables themselves
 * would also run their views.
 */
export async function restoreClickHouse(
  store: ObjectStore,
  backup: ClickHouseManifest,
  { address, database }: Target,
): Promise<void> {
  const databases = [
    { kind: 'live', address, name: database },
    { kind: 'test', address: firstShard(address), name: testDatabaseOf(database) },
  ] as const
  for (const { kind, address, name } of databases)
    await makeTablesOf(address, name, backup.migrations[kind])
  await withShardServers(address, database, async (servers) => {
    const stages = await makeStages(servers, backup.tables, address)
    for (const table of backup.tables) await fill(store, table, stages)
    for (const { clickhouse, table, name } of stages.values()) {
      await run(clickhouse, `ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${name}`)
      await run(clickhouse, `DROP TABLE ${name} SYNC`)
    }
    for (const { clickhouse, shard } of servers) if (shard === 0) await forgetLoads(clickhouse)
  })
  for (const { address, name } of databases) await migrateClickHouse(address, name)
}

const keyOf = (kind: DatabaseKind, shard: number, table: string) => `${kind} ${shard} ${table}`

/** Creates a copy for each table that receives rows. Throws StartError if a table lacks a column of the backup. */
async function makeStages(
  servers: readonly ShardServer[],
  tables: readonly ClickHouseTable[],
  address: ClickHouseAddress,
): Promise<Map<string, Stage>> {
  const stages = new Map<string, Stage>()
  for (const { kind, shard, clickhouse } of servers) {
    for (const { database, name, columns } of tables.filter((table) => table.shard === shard)) {
      if (database !== kind) continue
      const table = kind === 'live' && name === 'events' ? eventsTable(address) : name
      const found = await clickhouse.rows<{ name: string }>({
        sql: 'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
        params: { table },
      })
      const lacking = columns.find((column) => !found.some(({ name }) => name === column.name))
      if (lacking)
        throw new StartError(
          `this version of Footfall has no column ${lacking.name} of ${table}, which the backup contains: restore it with the version that wrote it`,
        )
      const stage = `${stageStart}${table}`
      await createLike(clickhouse, stage, table, { isWithoutTtl: true })
      stages.set(keyOf(kind, shard, name), { clickhouse, table, name: stage })
    }
  }
  return stages
}

/** Inserts the rows that a table had on one server. */
async function fill(
  store: ObjectStore,
  { database, shard, name, columns, chunks }: ClickHouseTable,
  stages: ReadonlyMap<string, Stage>,
): Promise<void> {
  const { clickhouse, name: stage } = stages.get(keyOf(database, shard, name))!
  const names = columns.map((column) => column.name).join(', ')
  for (const { object, rows } of chunks) {
    const bytes = await readObject(store, 'objects', object)
    const inserted = await clickhouse.importRows(
      {
        sql: `INSERT INTO ${stage} (${names}) FORMAT Native`,
        params: {},
        settings: insertSettings,
      },
      bytes,
    )
    if (inserted !== rows)
      throw new Error(
        `ClickHouse inserted ${inserted} rows of objects/${object} into ${name}, and should have inserted ${rows}`,
      )
  }
}

/** Equal blocks are all stored. A part may have rows of many partitions. */
const insertSettings = {
  insert_deduplicate: 0,
  optimize_on_insert: 0,
  max_partitions_per_insert_block: 0,
}

/** A load that did not finish lacks its own tables, so it begins again. */
async function forgetLoads(clickhouse: ClickHouse): Promise<void> {
  await run(
    clickhouse,
    `ALTER TABLE identity_loads DELETE WHERE load_id NOT IN (SELECT load_id FROM identity_loads FINAL WHERE phase = 'done')
     SETTINGS mutations_sync = 2`,
  )
}

const run = (clickhouse: ClickHouse, sql: string): Promise<void> =>
  clickhouse.command({ sql, params: {} })
