import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { deleteRowsOfServer } from '../../platform/clickhouse/deleteRows.ts'
import {
  allKnowMs,
  changeLease,
  eventsOfShard,
  type Move,
} from '../../platform/clickhouse/placement.ts'
import { withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { copyDifferences, copyMark, type PixelCopy } from './copyPixel.ts'
import { arePlacesRecorded, recordPlaces, waitForInserts, whilePaused } from './recordPlaces.ts'

/** Inserts are paused once at most this many events are left to copy. */
const restEventsMax = 200_000
const passesMax = 20
const pollMs = 200

export interface MoveRequest {
  readonly pixelId: string
  /** The shard to move to, from 0. */
  readonly to: number
}

export interface MoveStores {
  readonly postgres: Postgres
  /** All shards. */
  readonly clickhouse: ClickHouse
}

/**
 * Moves the events of a pixel to another shard while events arrive and reads go on. An interrupted move continues when
 * it is called again. A move back to the shard of an unfinished move cancels that move. Throws StartError if the pixel
 * cannot be moved.
 *
 * Each step waits until all processes know it (Placement):
 * 1. Record the move: reads ignore the pixel's events on the new shard.
 * 2. Copy the hours in which the shards differ, until few events are left, and compare all columns by hash. New events
 *    still go to the old shard.
 * 3. Pause inserts, copy the rest until both shards have the same events, and switch. The pause lasts some ten seconds.
 * 4. Resume inserts. Reads ignore the old copy. Delete it, and forget the move.
 */
export async function movePixel(
  stores: MoveStores,
  { pixelId, to }: MoveRequest,
  tell: (message: string) => void,
): Promise<void> {
  const { postgres, clickhouse } = stores
  const { database, shards } = clickhouse
  if (!shards[to]) throw new StartError(`--to must be a shard from 1 to ${shards.length}`)
  await withLease(postgres, changeLease(database), async () => {
    if (!(await arePlacesRecorded(postgres, database)))
      await recordPlaces(postgres, clickhouse, shards)
    const move = await beginMove(stores, { pixelId, to })
    if (!move) return tell(`pixel ${pixelId} is on shard ${to + 1} already`)
    if (move.to_shard === to) {
      if (!move.is_switched) await copyAndSwitch(stores, move, tell)
      await deleteCopy(stores, move, move.from_shard)
      tell(`pixel ${pixelId} is on shard ${to + 1} now`)
    } else {
      await deleteCopy(stores, move, move.to_shard)
      tell(`the move was cancelled: pixel ${pixelId} stays on shard ${to + 1}`)
    }
  })
}

/** Records the move, or finds the recorded one. Returns null if there is nothing to do. */
async function beginMove(
  { postgres, clickhouse: { database } }: MoveStores,
  { pixelId, to }: MoveRequest,
): Promise<Move | null> {
  const moves = await readMoves(postgres, database)
  const known = moves.find(({ pixel_id }) => pixel_id === pixelId)
  if (known) {
    const isCancelled = !known.is_switched && known.from_shard === to
    if (known.to_shard === to || isCancelled) return known
    throw new StartError(
      `pixel ${pixelId} is being moved to shard ${known.to_shard + 1}: end this move first, with --to ${known.to_shard + 1}`,
    )
  }
  const { rows } = await postgres.query<{ shard: number }>(
    'SELECT shard FROM pixel_shards WHERE database = $1 AND pixel_id = $2',
    [database, pixelId],
  )
  if (!rows[0])
    throw new StartError(
      `pixel ${pixelId} has no events. It gets a shard with its first event, by the weights of the shards`,
    )
  const from = rows[0].shard
  if (from === to) return null
  await postgres.query(
    'INSERT INTO shard_moves (database, pixel_id, from_shard, to_shard) VALUES ($1, $2, $3, $4)',
    [database, pixelId, from, to],
  )
  return { pixel_id: pixelId, from_shard: from, to_shard: to, is_switched: false }
}

/** Returns the moves that have not ended, the oldest first. */
export async function readMoves(postgres: Postgres, database: string): Promise<Move[]> {
  const { rows } = await postgres.query<Move>(
    'SELECT pixel_id, from_shard, to_shard, is_switched FROM shard_moves WHERE database = $1 ORDER BY started_at',
    [database],
  )
  return rows
}

async function copyAndSwitch(
  { postgres, clickhouse }: MoveStores,
  { pixel_id: pixelId, from_shard, to_shard }: Move,
  tell: (message: string) => void,
): Promise<void> {
  const { database, shards, cluster } = clickhouse
  const copy: PixelCopy = {
    pixelId,
    from: shards[from_shard]!,
    fromNumber: from_shard + 1,
    to: shards[to_shard]!,
    cluster: cluster!,
  }
  await delay(allKnowMs)
  // An interrupted move may have left a statement that still copies.
  await waitForInserts({ nodes: copy.to.nodes }, copyMark)
  const progress = (done: number, all: number) =>
    tell(`${count(done)} of ${count(all)} events copied`)
  for (let pass = 1; pass <= passesMax; pass++) {
    const events = await copyDifferences(copy, 'event_id, spool_id, seq', progress)
    if ((events ?? 0) <= restEventsMax) break
  }
  await copyDifferences(copy, '*', progress)
  await whilePaused(postgres, clickhouse, async (pause) => {
    let rest = 0
    for (let passes = 0; ; passes++) {
      const events = await copyDifferences(copy, 'event_id, spool_id, seq')
      if (events === null) break
      rest += events
      if (passes === passesMax)
        throw new Error(`the shards differ after ${passesMax} copies of the last events: try again`)
    }
    tell(`inserts were paused for the last ${count(rest)} events`)
    await pause.inTransaction(async (client) => {
      await client.query(
        'UPDATE pixel_shards SET shard = $3 WHERE database = $1 AND pixel_id = $2',
        [database, pixelId, to_shard],
      )
      await client.query(
        'UPDATE shard_moves SET is_switched = true WHERE database = $1 AND pixel_id = $2',
        [database, pixelId],
      )
      await client.query('UPDATE shard_placements SET version = version + 1 WHERE database = $1', [
        database,
      ])
    })
  })
}

/** Deletes a pixel's events of the shard that reads ignore, and then the record of the move. */
async function deleteCopy(
  { postgres, clickhouse: { database, shards } }: MoveStores,
  { pixel_id: pixelId }: Move,
  shard: number,
): Promise<void> {
  await waitForInserts({ nodes: shards[shard]!.nodes }, copyMark)
  const condition = { sql: 'pixel_id = {pixelId:UUID}', params: { pixelId } }
  while (await deleteRowsOfServer(shards[shard]!, eventsOfShard, condition)) await delay(pollMs)
  await postgres.query('DELETE FROM shard_moves WHERE database = $1 AND pixel_id = $2', [
    database,
    pixelId,
  ])
}

const count = (events: number): string => events.toLocaleString('en')
