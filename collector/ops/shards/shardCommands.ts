import { isUuid } from '../../../schemas/uuid.ts'
import type { Config } from '../../config.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type Cluster, isSharded, openForShipping } from '../../platform/clickhouse/cluster.ts'
import { hostOf } from '../../platform/clickhouse/migrate.ts'
import { eventsOfShard } from '../../platform/clickhouse/placement.ts'
import { requireShardSet } from '../../platform/clickhouse/shardSet.ts'
import { LeaseHeldError } from '../../platform/postgres/lease.ts'
import { migratePostgres } from '../../platform/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { StartError } from '../../platform/startError.ts'
import { withServers } from '../servers.ts'
import { addShards } from './addShards.ts'
import { movePixel, readMoves } from './movePixel.ts'

interface Opened {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouse
  readonly cluster: Cluster
}

/** Prints each shard with its weight, pixels and events, and the moves that have not ended. */
export const listShards = (config: Config): Promise<void> =>
  withShards(config, async ({ postgres, clickhouse, cluster }) => {
    const { database } = clickhouse
    await requireShardSet(postgres, cluster, database)
    const { rows } = await postgres.query<{ weight: number }>(
      'SELECT weight FROM clickhouse_shards WHERE database = $1 ORDER BY position',
      [database],
    )
    const counts = await Promise.all(clickhouse.shards.map(countEvents))
    for (const [index, urls] of cluster.shards.entries()) {
      const hosts = urls.map((url) => hostOf({ url })).join(', ')
      const { pixels, events } = counts[index]!
      console.log(
        `${index + 1}  ${hosts}  weight ${rows[index]?.weight ?? 1}  pixels ${pixels}  events ${events.toLocaleString('en')}`,
      )
    }
    for (const move of await readMoves(postgres, database))
      console.log(
        `pixel ${move.pixel_id} is being moved from shard ${move.from_shard + 1} to ${move.to_shard + 1}. If no process moves it, run npx footfall shards move ${move.pixel_id} --to ${move.to_shard + 1}`,
      )
  })

/** Adds the shards at the end of CLICKHOUSE_SHARDS. */
export const addNewShards = (config: Config): Promise<void> =>
  withShards(config, async ({ postgres, clickhouse, cluster }) => {
    await migratePostgres(postgres)
    const added = await addShards(postgres, clickhouse, cluster)
    for (const number of added)
      console.log(
        `shard ${number} is added. Restart every process with these CLICKHOUSE_SHARDS and CLICKHOUSE_CLUSTER. Then send it new pixels: npx footfall shards weight ${number} 1`,
      )
  })

/** Sets the share of new pixels that a shard receives. */
export const weighShard = (config: Config, number: string, weight: string): Promise<void> =>
  withShards(config, async ({ postgres, clickhouse: { database } }) => {
    if (!/^\d{1,6}(\.\d{1,6})?$/.test(weight))
      throw new StartError('the weight must be a number from 0, such as 1')
    await inTransaction(postgres, async (client) => {
      const { rowCount } = await client.query(
        'UPDATE clickhouse_shards SET weight = $3 WHERE database = $1 AND position = $2',
        [database, shardOf(number), weight],
      )
      if (rowCount === 0) throw new StartError(`there is no shard ${number}`)
      const { rowCount: receiving } = await client.query(
        'SELECT FROM clickhouse_shards WHERE database = $1 AND weight > 0 LIMIT 1',
        [database],
      )
      if (receiving === 0)
        throw new StartError('a shard must receive new pixels: give another shard a weight first')
    })
    console.log(`shard ${number} has the weight ${Number(weight)}`)
  })

/** Moves a pixel's events while the service runs. */
export const moveToShard = (config: Config, pixelId: string, number: string): Promise<void> =>
  withShards(config, async ({ postgres, clickhouse, cluster }) => {
    if (!isUuid(pixelId)) throw new StartError('the pixel must be a UUID')
    await requireShardSet(postgres, cluster, clickhouse.database)
    const request = { pixelId: pixelId.toLowerCase(), to: shardOf(number) }
    await movePixel({ postgres, clickhouse }, request, console.log)
  })

async function withShards(config: Config, run: (opened: Opened) => Promise<void>): Promise<void> {
  await withServers(config, async ({ clickhouse: address, postgresUrl }) => {
    if (!isSharded(address))
      throw new StartError('the events are on one server: CLICKHOUSE_SHARDS must name several')
    const postgres = openPostgres(postgresUrl, () => {})
    const clickhouse = openForShipping(address, config.clickhouseDatabase, postgres)
    try {
      await run({ postgres, clickhouse, cluster: address })
    } catch (error) {
      throw error instanceof LeaseHeldError
        ? new StartError('another process is adding a shard or moving a pixel: wait until it ends')
        : error
    } finally {
      await clickhouse.close()
      await postgres.end()
    }
  })
}

/** Returns the position, from 0, of a shard's number. */
function shardOf(number: string): number {
  if (!/^[1-9]\d{0,3}$/.test(number))
    throw new StartError('name the shard by its number, from 1, as npx footfall shards shows it')
  return Number(number) - 1
}

async function countEvents(shard: ClickHouse): Promise<{ pixels: number; events: number }> {
  const [counts] = await shard.rows<{ pixels: number; events: number }>({
    sql: `SELECT toUInt32(uniqExact(pixel_id)) AS pixels, count() AS events FROM ${eventsOfShard}`,
    params: {},
  })
  return counts!
}
