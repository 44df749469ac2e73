import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isUnavailable } from '../storeErrors.ts'
import type { ClickHouse } from './client.ts'
import { type OwnSettings, openClickHouse } from './openClickHouse.ts'
import { replicatedSettings, sequentialSettings } from './replicated.ts'
import { eventsOfShard, splitByShard } from './shards.ts'

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

/** Returns the table of a server's own events, which migrations and mutations use. */
export const eventsTable = (address: ClickHouseAddress): string =>
  isSharded(address) ? eventsOfShard : 'events'

/** Returns the shards that hold the rows of a table, in their order, each with the table's name there. */
export const partsOf = (
  clickhouse: ClickHouse,
  table: string,
): readonly { shard: ClickHouse; table: string }[] =>
  clickhouse.shards.length > 1 && table === 'events'
    ? clickhouse.shards.map((shard) => ({ shard, table: eventsOfShard }))
    : [{ shard: clickhouse, table }]

export const openDatabases = (
  address: ClickHouseAddress,
  name: string,
): Record<'live' | 'test', ClickHouse> => ({
  live: openDatabase(address, name),
  test: openDatabase(firstShard(address), testDatabaseOf(name)),
})

export const testDatabaseOf = (name: string): string => `${name}_test`

/**
 * Opens a database. A cluster is queried through its first shard, which reads the events of the other shards. `more` are
 * settings of all statements.
 */
export function openDatabase(
  address: ClickHouseAddress,
  database: string,
  more: OwnSettings = {},
): ClickHouse {
  if (typeof address === 'string') return openClickHouse(address, database, more)
  const settings = { ...settingsOf(address), ...more }
  const servers = address.shards.map((urls) =>
    urls.map((url) => openClickHouse(url, database, settings)),
  )
  const shards = servers.map(openReplicas)
  const nodes = servers.flat()
  const [first] = shards as [ClickHouse]
  const close = async () => {
    await Promise.all(nodes.map((node) => node.close()))
  }
  const opened = { ...first, cluster: address.name, shards, nodes, close }
  return shards.length === 1 ? opened : { ...opened, insertLines: insertIntoShards(shards) }
}

/**
 * Opens a database for the shipper, which inserts one batch at a time. Reads see every earlier insert on any
 * replica, so the shipper recognizes duplicates.
 */
export const openForShipping = (address: ClickHouseAddress, database: string): ClickHouse =>
  openDatabase(address, database, isReplicated(address) ? sequentialSettings : {})

const settingsOf = (cluster: Cluster): OwnSettings => ({
  ...(isSharded(cluster) && shardedSettings),
  ...(isReplicated(cluster) && replicatedSettings),
})

/**
 * A query of events reads other tables once and sends their rows to the shards. Shards that cannot have
 * events of the named projects are skipped.
 */
const shardedSettings: OwnSettings = {
  distributed_product_mode: 'global',
  prefer_global_in_and_join: 1,
  optimize_skip_unused_shards: 1,
}

/** Inserts lines of events into the tables of their shards, and other lines into the first shard. */
const insertIntoShards =
  (shards: readonly ClickHouse[]): ClickHouse['insertLines'] =>
  async (table, lines, ...insert) => {
    if (table !== 'events') return shards[0]!.insertLines(table, lines, ...insert)
    const parts = splitByShard([await buffer(lines)], shards.length)
    await Promise.all(
      parts.map(({ shard, payloads }) =>
        shards[shard]!.insertLines(
          eventsOfShard,
          Readable.from(payloads, { objectMode: false }),
          ...insert,
        ),
      ),
    )
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
    nodes: replicas,
    rows: (query) => ask((replica) => replica.rows(query), replicas.length),
    stream: (...asked) => ask((replica) => replica.stream(...asked), replicas.length),
    command: (query) => ask((replica) => replica.command(query)),
    insertLines: (...given) => ask((replica) => replica.insertLines(...given)),
    feed: (...given) => ask((replica) => replica.feed(...given)),
    ping: async () => {
      const answers = replicas.map(async (replica) => {
        if (!(await replica.ping())) throw new Error('it cannot be reached')
        return true
      })
      return Promise.any(answers).catch(() => false)
    },
  }
}
