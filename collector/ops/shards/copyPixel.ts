import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { eventsOfShard } from '../../platform/clickhouse/placement.ts'

/** The events of a pixel on two shards. */
export interface PixelCopy {
  readonly pixelId: string
  readonly from: ClickHouse
  /** The number of `from` in the cluster, from 1. */
  readonly fromNumber: number
  readonly to: ClickHouse
  /** Name of the cluster. */
  readonly cluster: string
}

/** Events of one project in whole hours, `startMs` inclusive, `endMs` exclusive. */
interface Range {
  readonly projectId: string
  readonly startMs: number
  endMs: number
  /** Events on the first shard. */
  events: number
  /** Whether the second shard has events of the range. */
  isToDelete: boolean
}

/** One statement copies at most about this many events. */
const rangeEventsMax = 500_000
const hourMs = 3_600_000

/** Contained in each statement that copies events. */
export const copyMark = 'FROM cluster('

/**
 * The columns that a comparison hashes. No event changes once it is stored, so their ids tell whether both shards have
 * the same events. All columns also tell whether the copies are intact, which takes ten times as long.
 */
export type Compared = 'event_id, spool_id, seq' | '*'

/**
 * Copies the hours in which the shards differ, and deletes what only the second shard has. Returns the number of copied
 * events, or null if the shards were equal. `progress` receives the number of events so far, and of all.
 */
export async function copyDifferences(
  copy: PixelCopy,
  compared: Compared,
  progress: (events: number, of: number) => void = () => {},
): Promise<number | null> {
  const ranges = await findDifferences(copy, compared)
  if (ranges.length === 0) return null
  const all = ranges.reduce((sum, { events }) => sum + events, 0)
  let copied = 0
  for (const range of ranges) {
    await copyRange(copy, range)
    copied += range.events
    progress(copied, all)
  }
  return copied
}

/** Returns the ranges of hours whose number of events, or sum of hashes, differs between the shards. */
async function findDifferences(
  { from, to, pixelId }: PixelCopy,
  compared: Compared,
): Promise<Range[]> {
  const [source, target] = await Promise.all(
    [from, to].map((shard) => hoursOf(shard, pixelId, compared)),
  )
  const hours = [...new Set([...source!.keys(), ...target!.keys()])].toSorted()
  const ranges: Range[] = []
  for (const key of hours) {
    const wanted = source!.get(key)
    const found = target!.get(key)
    if (wanted?.hash === found?.hash && wanted?.events === found?.events) continue
    const { projectId, startMs } = (wanted ?? found)!
    const events = wanted?.events ?? 0
    const last = ranges.at(-1)
    const endMs = startMs + hourMs
    const isToDelete = found !== undefined
    if (
      last?.projectId === projectId &&
      last.endMs === startMs &&
      last.isToDelete === isToDelete &&
      last.events + events <= rangeEventsMax
    ) {
      last.endMs = endMs
      last.events += events
    } else ranges.push({ projectId, startMs, endMs, events, isToDelete })
  }
  return ranges
}

interface Hour {
  projectId: string
  startMs: number
  events: number
  hash: string
}

/** Returns the hours of a pixel on a shard, by project and time. */
async function hoursOf(
  shard: ClickHouse,
  pixelId: string,
  compared: Compared,
): Promise<Map<string, Hour>> {
  const rows = await shard.rows<Hour>({
    // * has no columns that ClickHouse computes.
    sql: `SELECT project_id AS projectId, intDiv(ts_millis, ${hourMs}) * ${hourMs} AS startMs,
            toUInt32(count()) AS events, toString(sum(cityHash64(tuple(${compared})))) AS hash
          FROM ${eventsOfShard}
          WHERE project_id IN (SELECT DISTINCT project_id FROM ${eventsOfShard} WHERE pixel_id = {pixelId:UUID})
            AND pixel_id = {pixelId:UUID}
          GROUP BY project_id, startMs`,
    params: { pixelId },
  })
  // Padded, so that the order of the keys is the order in time.
  return new Map(
    rows.map((hour) => [`${hour.projectId} ${String(hour.startMs).padStart(16, '0')}`, hour]),
  )
}

async function copyRange({ pixelId, to, fromNumber, cluster }: PixelCopy, range: Range) {
  const { projectId, startMs, endMs, isToDelete, events } = range
  const params = { pixelId, projectId, startMs, endMs }
  const condition = `project_id = {projectId:UUID} AND pixel_id = {pixelId:UUID}
    AND ts_millis >= {startMs:Int64} AND ts_millis < {endMs:Int64}`
  if (isToDelete)
    await to.command({
      sql: `ALTER TABLE ${eventsOfShard} DELETE WHERE ${condition} SETTINGS mutations_sync = 2`,
      params,
    })
  if (events === 0) return
  const columns = await columnsOf(to)
  await to.command({
    sql: `INSERT INTO ${eventsOfShard} (${columns}) SELECT ${columns}
          ${copyMark}{cluster:String}, currentDatabase(), ${eventsOfShard})
          WHERE _shard_num = {fromNumber:UInt32} AND ${condition}`,
    params: { ...params, cluster, fromNumber },
    // A range that was deleted and is copied again may have the same block.
    settings: { insert_deduplicate: 0 },
  })
}

/** Returns the names of the stored columns, without those that ClickHouse computes. */
async function columnsOf(shard: ClickHouse): Promise<string> {
  const rows = await shard.rows<{ name: string }>({
    sql: `SELECT name FROM system.columns
          WHERE database = currentDatabase() AND table = '${eventsOfShard}' AND default_kind IN ('', 'DEFAULT')
          ORDER BY position`,
    params: {},
  })
  return rows.map(({ name }) => name).join(', ')
}
