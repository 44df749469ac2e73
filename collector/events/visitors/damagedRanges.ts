import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { EventsPlan } from '../query/page/eventsPlan.ts'
import { partsOfProjects } from '../query/projects.ts'
import type { Window } from '../query/window/window.ts'

/** Windows are split at full hours, down to one. */
const sliceMs = 3_600_000

/** The most attempts to read a slice. A damaged hour of a month takes twenty. */
export const triesMax = 48

/** Bisects an unreadable window into parts of an hour, or until the tries are used up. */
export async function findDamagedRanges(
  window: Window,
  isReadable: (slice: Window) => Promise<boolean>,
): Promise<Window[]> {
  const gaps: Window[] = []
  let tries = 0
  let suspects = [window]
  while (suspects.length > 0) {
    const unreadable: Window[] = []
    for (const suspect of suspects) {
      const middle = middleOf(suspect)
      if (middle === null || tries + 2 > triesMax) {
        gaps.push(suspect)
        continue
      }
      tries += 2
      for (const half of [
        { startMs: suspect.startMs, endMs: middle },
        { startMs: middle, endMs: suspect.endMs },
      ]) {
        if (!(await isReadable(half))) unreadable.push(half)
      }
    }
    suspects = unreadable
  }
  return joined(gaps.sort((a, b) => a.startMs - b.startMs))
}

/** Returns the full hour nearest to the middle; null if there is none inside. */
function middleOf({ startMs, endMs }: Window): number | null {
  const middle = Math.round((startMs + endMs) / 2 / sliceMs) * sliceMs
  return middle > startMs && middle < endMs ? middle : null
}

function joined(windows: readonly Window[]): Window[] {
  const result: Window[] = []
  for (const window of windows) {
    const last = result.at(-1)
    if (last?.endMs === window.startMs) result[result.length - 1] = { ...last, endMs: window.endMs }
    else result.push(window)
  }
  return result
}

/**
 * Whether ClickHouse has detached broken parts of `events` of a month in the window, on a shard of the projects. Their
 * rows are missing without an error. A part with an unknown month counts for every window.
 */
export async function hasBrokenParts(
  queryExecutor: QueryExecutor,
  { scope, window: { startMs, endMs } }: Pick<EventsPlan, 'scope' | 'window'>,
): Promise<boolean> {
  const { clickhouse } = queryExecutor
  const ranges = await Promise.all(
    partsOfProjects(clickhouse, scope).map(({ shard, table }) =>
      queryExecutor.through(shard).rows<{ parts: number }>({
        sql: `SELECT count() AS parts FROM system.detached_parts
              WHERE database = {database:String} AND table = {table:String} AND startsWith(ifNull(reason, ''), 'broken')
                AND (partition_id IS NULL OR toUInt32OrZero(partition_id) BETWEEN
                  toYYYYMM(fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')) AND
                  toYYYYMM(fromUnixTimestamp64Milli({lastMs:Int64}, 'UTC')))`,
        params: { startMs, lastMs: endMs - 1, database: clickhouse.database, table },
      }),
    ),
  )
  return ranges.some(([row]) => row!.parts > 0)
}
