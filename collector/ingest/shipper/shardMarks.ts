import type { LineSet } from './waitingLines.ts'

/** Rows that wait for some shards, or may be lost on them. */
export interface Delayed {
  readonly oldestAt: number
  /** From 0. */
  readonly shards: ReadonlySet<number>
  /** The version of the placement by which their pixels are on these shards. */
  readonly version: number | null | undefined
  /** The rows that wait. */
  readonly rest?: Pick<LineSet, 'size'>
}

/** Rows that wait for a shard. */
export interface ShardBacklog {
  /** When the first of them was received, epoch milliseconds. */
  readonly oldestAt: number
  readonly rows: number
}

/** Until when a shipper has shipped its rows, epoch milliseconds; Infinity: all. */
export interface LowMarks {
  /** For projects without pixels on a shard of `shards`. */
  readonly others: number
  /** For projects with a pixel on one of these shards, from 0. */
  readonly shards: ReadonlyMap<number, ShardBacklog>
}

/**
 * Returns the marks of a shipper. `queued` are the times of batches that no shard delays. If pixels have moved since rows
 * began to wait, they delay all projects.
 */
export function lowMarksOf(
  queued: readonly number[],
  delayed: readonly Delayed[],
  version: number | null,
): LowMarks {
  let others = queued.reduce((least, oldestAt) => Math.min(least, oldestAt), Infinity)
  for (const each of delayed) if (each.version !== version) others = Math.min(others, each.oldestAt)
  return { others, shards: backlogOfShards(delayed.filter((each) => each.version === version)) }
}

/** Returns what waits for each shard, from 0. */
export function backlogOfShards(delayed: readonly Delayed[]): Map<number, ShardBacklog> {
  const shards = new Map<number, ShardBacklog>()
  for (const { shards: of, oldestAt, rest } of delayed)
    for (const shard of of) {
      const known = shards.get(shard) ?? { oldestAt: Infinity, rows: 0 }
      shards.set(shard, {
        oldestAt: Math.min(known.oldestAt, oldestAt),
        rows: known.rows + (rest?.size ?? 0),
      })
    }
  return shards
}
