import { isUnavailable } from '../storeErrors.ts'
import type { ClickHouse, Query } from './client.ts'
import { type OwnSettings, openClickHouse } from './openClickHouse.ts'

/** Servers that hold a database together. */
export interface Cluster {
  /** Its name in `remote_servers` of the servers' configuration. */
  readonly name: string
  /** The URLs of each shard's replicas, credentials included, in the order of `remote_servers`. */
  readonly shards: readonly (readonly string[])[]
}

/** The address of ClickHouse: the URL of one server, or a cluster. */
export type ClickHouseAddress = string | Cluster

/** Whether the cluster distributes events over several shards. */
export const isSharded = (address: ClickHouseAddress): address is Cluster =>
  typeof address !== 'string' && address.shards.length > 1

/** Whether some of the servers are replicas of each other. */
export const isReplicated = (address: ClickHouseAddress): address is Cluster =>
  typeof address !== 'string' && address.shards.some((replicas) => replicas.length > 1)

/**
 * Returns the servers of the first shard, which hold all data that is not sharded, such as the database of
 * test keys.
 */
export const firstShard = (address: ClickHouseAddress): ClickHouseAddress =>
  typeof address === 'string' ? address : { ...address, shards: address.shards.slice(0, 1) }

/**
 * The table of one shard's own events. With several shards, `events` is the Distributed table over all of
 * them.
 */
const ownEvents = 'events_local'

/** Returns the table of a server's own events, which migrations and mutations use. */
export const eventsTable = (address: ClickHouseAddress): string =>
  isSharded(address) ? ownEvents : 'events'

/**
 * Returns the SQL expression that distributes events over shards. All events of a pixel are on one shard. A
 * different key would query the wrong shards.
 */
export const shardingKey = (pixelId: string): string => `cityHash64(${pixelId})`

/** Returns the shards that hold the rows of a table, each with the table's name there. */
export const partsOf = (
  clickhouse: ClickHouse,
  table: string,
): readonly { shard: ClickHouse; table: string }[] =>
  clickhouse.shards.length > 1 && table === 'events'
    ? clickhouse.shards.map((shard) => ({ shard, table: ownEvents }))
    : [{ shard: clickhouse, table }]

/** Returns the index, from 0, of the shard that holds a pixel's events. */
export async function shardOfPixel(
  shards: readonly ClickHouse[],
  pixelId: string,
): Promise<number> {
  if (shards.length === 1) return 0
  const [found] = await shards[0]!.rows<{ shard: number }>({
    sql: `SELECT toUInt32(${shardingKey('{pixelId:UUID}')} % {count:UInt32}) AS shard`,
    params: { pixelId, count: shards.length },
  })
  return found!.shard
}

/** Returns SQL for a table that each server has, such as system.parts, read from one server of each shard. */
export const ofEachShard = ({ cluster }: ClickHouse, table: string): string =>
  cluster === null ? table : `cluster('${cluster}', ${table})`

/** Opens the database of live events and the database of test keys. */
export const openDatabases = (
  address: ClickHouseAddress,
  name: string,
): Record<'live' | 'test', ClickHouse> => ({
  live: openDatabase(address, name),
  test: openDatabase(firstShard(address), testDatabaseOf(name)),
})

/** Returns the name of the database of test keys. */
export const testDatabaseOf = (name: string): string => `${name}_test`

/**
 * Opens a database. A cluster is queried through its first shard, which reads the events of the other shards.
 */
export function openDatabase(
  address: ClickHouseAddress,
  database: string,
  more: OwnSettings = {},
): ClickHouse {
  if (typeof address === 'string') return openClickHouse(address, database)
  const settings = { ...settingsOf(address), ...more }
  const servers = address.shards.map((urls) =>
    urls.map((url) => openClickHouse(url, database, settings)),
  )
  const shards = servers.map(openReplicas)
  const nodes = servers.flat()
  const [first] = shards as [ClickHouse]
  const direct = shards.length === 1 ? null : directly(shards)
  return {
    ...first,
    cluster: address.name,
    shards,
    nodes,
    async rows<Row>(query: Query) {
      const asked = await direct?.(query)
      return asked ? asked.shard.rows<Row>(asked.query) : first.rows<Row>(query)
    },
    async stream(query, ...how) {
      const asked = await direct?.(query)
      return asked ? asked.shard.stream(asked.query, ...how) : first.stream(query, ...how)
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

/**
 * Opens a database for the shipper, which inserts one batch at a time. Reads see every earlier insert on any
 * replica, so the shipper recognizes duplicates.
 */
export const openForShipping = (address: ClickHouseAddress, database: string): ClickHouse =>
  openDatabase(
    address,
    database,
    isReplicated(address) ? { insert_quorum_parallel: 0, select_sequential_consistency: 1 } : {},
  )

const settingsOf = (cluster: Cluster): OwnSettings => ({
  ...(isSharded(cluster) && shardedSettings),
  ...(isReplicated(cluster) && replicatedSettings),
})

/**
 * A query of events reads other tables once and sends their rows to the shards. Shards that cannot have
 * events of the pixel are skipped. An insert ends when all shards have stored their rows.
 */
const shardedSettings: OwnSettings = {
  distributed_product_mode: 'global',
  prefer_global_in_and_join: 1,
  optimize_skip_unused_shards: 1,
  distributed_foreground_insert: 1,
}

/** ClickHouse confirms a row when most replicas have stored it. */
const replicatedSettings: OwnSettings = { insert_quorum: 'auto' }

/**
 * Reads data of one pixel directly from its shard. The table of all shards is slower (test/bench/shards.ts).
 * Returns undefined for queries that need the first shard.
 */
function directly(shards: readonly ClickHouse[]) {
  const places = new Map<string, Promise<number>>()
  return async <Asked extends Query>(
    query: Asked,
  ): Promise<{ shard: ClickHouse; query: Asked } | undefined> => {
    const { pixelId, params } = query
    if (pixelId === undefined) return undefined
    let at = places.get(pixelId)
    if (!at) {
      at = shardOfPixel(shards, pixelId)
      places.set(pixelId, at)
      at.catch(() => places.delete(pixelId))
    }
    return {
      shard: shards[await at]!,
      query: { ...query, params: { ...params, events: ownEvents } },
    }
  }
}

/** Combines the replicas of a shard into one connection. A read retries the next replica at once. */
function openReplicas(replicas: readonly ClickHouse[]): ClickHouse {
  let current = 0
  const ask = async <T>(
    question: (replica: ClickHouse) => Promise<T>,
    triesMax = 1,
  ): Promise<T> => {
    for (let tried = 1; ; tried++) {
      const asked = current
      try {
        return await question(replicas[asked]!)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        if (current === asked) current = (asked + 1) % replicas.length
        if (tried >= triesMax) throw error
      }
    }
  }
  return {
    ...replicas[0]!,
    rows: (query) => ask((replica) => replica.rows(query), replicas.length),
    stream: (...asked) => ask((replica) => replica.stream(...asked), replicas.length),
    command: (query) => ask((replica) => replica.command(query)),
    insertLines: (...given) => ask((replica) => replica.insertLines(...given)),
    feed: (...given) => ask((replica) => replica.feed(...given)),
    ping: () => ask((replica) => replica.ping(), replicas.length),
  }
}
