import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { allKnowMs, eventsOfShard, pauseLease } from '../../platform/clickhouse/placement.ts'
import { type Lease, withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { StartError } from '../../platform/startError.ts'

const pollMs = 100

/**
 * Runs `work` while no process inserts events. Collectors keep them in their log meanwhile. `work` changes places in
 * `pause.inTransaction`, which fails if the pause has ended early.
 */
export async function whilePaused<T>(
  postgres: Postgres,
  clickhouse: ClickHouse,
  work: (pause: Lease) => Promise<T>,
): Promise<T> {
  return withLease(postgres, pauseLease(clickhouse.database), async (pause) => {
    await delay(allKnowMs)
    await waitForInserts(clickhouse)
    const result = await work(pause)
    // Reads must know the new places before new events arrive there.
    await delay(allKnowMs)
    return result
  })
}

/**
 * Waits until these servers run no insert of events. With `containing`, only inserts whose text contains it count.
 */
export async function waitForInserts(
  { nodes }: Pick<ClickHouse, 'nodes'>,
  containing = '',
): Promise<void> {
  const isInserting = async (node: ClickHouse): Promise<boolean> => {
    const [running] = await node.rows<{ inserts: number }>({
      sql: `SELECT toUInt32(count()) AS inserts FROM system.processes
            WHERE current_database = currentDatabase() AND startsWith(query, {statement:String})
              AND position(query, {containing:String}) > 0`,
      params: { statement: `INSERT INTO ${eventsOfShard}`, containing },
    })
    return running!.inserts > 0
  }
  while ((await Promise.all(nodes.map(isInserting))).includes(true)) await delay(pollMs)
}

/** Whether PostgreSQL already knows the shard of each pixel. */
export async function arePlacesRecorded(postgres: Postgres, database: string): Promise<boolean> {
  const { rowCount } = await postgres.query('SELECT FROM shard_placements WHERE database = $1', [
    database,
  ])
  return rowCount !== 0
}

/**
 * Records on which shard the events of each pixel are, so that the hash of its id no longer decides. `shards` are the
 * shards that may have events. Throws StartError for a pixel with events on two of them.
 */
export async function recordPlaces(
  postgres: Postgres,
  clickhouse: ClickHouse,
  shards: readonly ClickHouse[],
): Promise<void> {
  await whilePaused(postgres, clickhouse, async (pause) => {
    const places = await readPlaces(shards)
    await pause.inTransaction((client) => writePlaces(client, clickhouse.database, places))
  })
}

/** The pixels with events on each shard. */
export type Places = readonly (readonly string[])[]

/** Reads which pixels have events on these shards. Throws StartError for a pixel with events on two of them. */
export async function readPlaces(shards: readonly ClickHouse[]): Promise<Places> {
  const places = await Promise.all(shards.map(pixelsOf))
  requireOnePlace(places)
  return places
}

/** Replaces the recorded shard of each pixel. */
export async function writePlaces(
  client: Queryable,
  database: string,
  places: Places,
): Promise<void> {
  await client.query('DELETE FROM pixel_shards WHERE database = $1', [database])
  for (const [shard, pixelIds] of places.entries())
    await client.query(
      'INSERT INTO pixel_shards (database, pixel_id, shard) SELECT $1, unnest($2::uuid[]), $3',
      [database, pixelIds, shard],
    )
  await client.query(
    `INSERT INTO shard_placements (database, version) VALUES ($1, 1)
     ON CONFLICT (database) DO UPDATE SET version = shard_placements.version + 1`,
    [database],
  )
}

/** Throws StartError for a pixel that is among those of two shards. */
function requireOnePlace(pixels: Places): void {
  const places = new Map<string, number>()
  for (const [shard, pixelIds] of pixels.entries())
    for (const pixelId of pixelIds) {
      const other = places.get(pixelId)
      if (other !== undefined)
        throw new StartError(
          `pixel ${pixelId} has events on the shards ${other + 1} and ${shard + 1}. If it is being moved, end the move first (npx footfall shards). Otherwise delete its events on one of them`,
        )
      places.set(pixelId, shard)
    }
}

async function pixelsOf(shard: ClickHouse): Promise<string[]> {
  const rows = await shard.rows<{ pixel_id: string }>({
    sql: `SELECT DISTINCT pixel_id FROM ${eventsOfShard}`,
    params: {},
  })
  return rows.map(({ pixel_id }) => pixel_id)
}
