import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Postgres } from '../postgres/pool.ts'
import { isUnavailable } from '../storeErrors.ts'
import { chunked } from './chunked.ts'
import type { ClickHouse, Query } from './client.ts'
import { type OwnSettings, openClickHouse } from './openClickHouse.ts'
import { eventsOfShard, Placement } from './placement.ts'
import { splitByShard } from './splitByShard.ts'

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
    ? clickhouse.shards.map((shard) => ({ shard, table: eventsOfShard }))
    : [{ shard: clickhouse, table }]

/** Returns the shards, from 0, of pixels by the hash of their ids. Any server that answers computes it. */
async function shardsByHash(
  shards: readonly ClickHouse[],
  pixelIds: readonly string[],
): Promise<number[]> {
  const found: number[] = []
  for (const some of chunked(pixelIds)) {
    const query: Query = {
      sql: `SELECT toUInt32(${shardingKey('arrayJoin({pixelIds:Array(UUID)})')} % {count:UInt32}) AS shard`,
      params: { pixelIds: some, count: shards.length },
    }
    const answers = shards.map((server) => server.rows<{ shard: number }>(query))
    const rows = await Promise.any(answers).catch(({ errors }: AggregateError) => {
      throw errors[0]
    })
    for (const { shard } of rows) found.push(shard)
  }
  return found
}

/** Returns SQL for a table that each server has, such as system.parts, read from one server of each shard. */
export const ofEachShard = ({ cluster }: ClickHouse, table: string): string =>
  cluster === null ? table : `cluster('${cluster}', ${table})`

/** Opens the database of live events and the database of test keys. Several shards need `postgres`. */
export const openDatabases = (
  address: ClickHouseAddress,
  name: string,
  postgres?: Postgres,
): Record<'live' | 'test', ClickHouse> => ({
  live: openDatabase(address, name, { postgres }),
  test: openDatabase(firstShard(address), testDatabaseOf(name)),
})

/** Returns the name of the database of test keys. */
export const testDatabaseOf = (name: string): string => `${name}_test`

/**
 * Opens a database. A cluster is queried through its first shard, which reads the events of the other shards. Several
 * shards need `postgres`, which tells where the events of each pixel are.
 */
export function openDatabase(
  address: ClickHouseAddress,
  database: string,
  { postgres, more = {} }: { postgres?: Postgres | undefined; more?: OwnSettings } = {},
): ClickHouse {
  if (typeof address === 'string') return openClickHouse(address, database)
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
  if (shards.length === 1) return opened
  if (!postgres) throw new Error('a database of several shards needs PostgreSQL')
  const placement = new Placement(postgres, {
    database,
    shards: shards.length,
    hashOf: (pixelIds) => shardsByHash(shards, pixelIds),
  })
  return { ...opened, placement, ...throughShards(shards, placement) }
}

/**
 * Opens a database for the shipper, which inserts one batch at a time. Reads see every earlier insert on any
 * replica, so the shipper recognizes duplicates.
 */
export const openForShipping = (
  address: ClickHouseAddress,
  database: string,
  postgres?: Postgres,
): ClickHouse =>
  openDatabase(address, database, {
    postgres,
    more: isReplicated(address)
      ? { insert_quorum_parallel: 0, select_sequential_consistency: 1 }
      : {},
  })

const settingsOf = (cluster: Cluster): OwnSettings => ({
  ...(isSharded(cluster) && shardedSettings),
  ...(isReplicated(cluster) && replicatedSettings),
})

/**
 * A query of events reads other tables once and sends their rows to the shards. Shards that cannot have
 * events of the pixel are skipped.
 */
const shardedSettings: OwnSettings = {
  distributed_product_mode: 'global',
  prefer_global_in_and_join: 1,
  optimize_skip_unused_shards: 1,
}

/** ClickHouse confirms a row when most replicas have stored it. */
const replicatedSettings: OwnSettings = { insert_quorum: 'auto' }

/**
 * The statements that concern several shards. Reads of one pixel go to its shard, because the table of all shards is
 * slower (test/bench/shards.ts). While a shard is unavailable, another one answers for projects with all their pixels
 * there. Other reads and statements go to the first shard, with the settings of the placement.
 * Events are inserted into their shards.
 */
function throughShards(
  shards: readonly ClickHouse[],
  placement: Placement,
): Pick<ClickHouse, 'rows' | 'stream' | 'command' | 'insertLines'> {
  const [first] = shards as [ClickHouse]
  const ask = async <Asked extends Query, Answer>(
    query: Asked,
    run: (shard: ClickHouse, query: Asked) => Promise<Answer>,
  ): Promise<Answer> => {
    const { pixelId, projectId = null, params } = query
    const runOn = (place: number) =>
      run(shards[place]!, { ...query, params: { ...params, events: eventsOfShard } })
    const place = pixelId === undefined ? undefined : await placement.shardOf(pixelId)
    if (place !== undefined) return runOn(place)
    try {
      return await run(first, { ...query, settings: await placement.settings() })
    } catch (error) {
      if (projectId === null || !isUnavailable(error)) throw error
      const known = await placement.shardsOfProject({ projectId, pixelId: null })
      const [only, ...others] = known?.shards ?? []
      if (only === undefined || others.length > 0 || only >= shards.length) throw error
      // Tables of people are on the first shard alone.
      return await runOn(only).catch(() => {
        throw error
      })
    }
  }
  return {
    rows: <Row>(asked: Query) => ask(asked, (shard, query) => shard.rows<Row>(query)),
    stream: (asked, ...how) => ask(asked, (shard, query) => shard.stream(query, ...how)),
    async command(query) {
      await first.command({ ...query, settings: await placement.settings() })
    },
    async insertLines(table, lines, token, queryId) {
      if (table !== 'events') return first.insertLines(table, lines, token, queryId)
      const { parts } = await splitByShard({ shards, placement }, await buffer(lines))
      await Promise.all(
        parts.map(({ shard, lines }) =>
          shard.insertLines(
            eventsOfShard,
            Readable.from(lines, { objectMode: false }),
            token,
            queryId,
          ),
        ),
      )
    },
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
