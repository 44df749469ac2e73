import type { Placement } from '../../platform/clickhouse/placement.ts'
import { publishWatermark, type ShardMarks } from '../../platform/collectors.ts'
import type { WarnLog } from '../../platform/log.ts'
import { clockAheadSeconds, readableLagSeconds } from '../../platform/metrics.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { runEvery } from '../../platform/runEvery.ts'
import { createSharedClock } from '../../platform/sharedClock.ts'
import type { LowMarks } from './shardMarks.ts'

const publishMs = 1_000
const unshared = { settled: [], doubtfulFrom: Infinity }

/**
 * Publishes, every second, until when ClickHouse has everything that this machine received. It is the
 * smallest of its workers' marks (EventLog.lowMark) and of the batches that wait for the shipper. A worker
 * reports a segment that it seals before it answers, on the same channel. So everything before its mark that
 * has left its spool is with the shipper. While a worker or ClickHouse does not answer, nothing is published.
 * A watermark is never ahead of PostgreSQL's clock, regardless of this machine's clock.
 *
 * While rows wait for a shard, it also publishes the mark of projects without pixels on this shard.
 */
export function keepWatermark({
  workers,
  shipper,
  placement,
  readProgress,
  postgres,
  collectorId,
  keep,
  log,
}: {
  /** Returns the mark of each worker; null if one does not answer. */
  workers: {
    lowMarks(latestMs: number, published: number, settled: number[]): Promise<number[] | null>
  }
  shipper: { lowMarks(version: number | null): LowMarks; noticeRestart(): Promise<void> }
  /** Tells the shard of each pixel; null without several shards. */
  placement: Pick<Placement, 'version'> | null
  /** How far the shippers of a replicated log are; null: the log is the spool of this machine. */
  readProgress?: (() => Promise<{ settled: number[]; doubtfulFrom: number }>) | null | undefined
  postgres: Postgres
  collectorId: string
  /** Called before a watermark is published: starting workers, also without PostgreSQL, respect it. */
  keep(mark: number): void
  log: WarnLog
}) {
  const clock = createSharedClock()
  let published = 0
  const publish = async () => {
    await clock.compare(postgres)
    clockAheadSeconds.set((Date.now() - clock.latest()) / 1000)
    const { settled, doubtfulFrom } = (await readProgress?.()) ?? unshared
    const marks = await workers.lowMarks(clock.latest(), published, settled)
    if (!marks) return
    await shipper.noticeRestart()
    const version = (await placement?.version()) ?? null
    const low = shipper.lowMarks(version)
    const others = Math.floor(Math.min(...marks, low.others, doubtfulFrom, clock.earliest()))
    const behind = [...low.shards].map(
      ([shard, { oldestAt, rows }]) =>
        [shard, Math.floor(Math.min(others, oldestAt)), rows] as const,
    )
    const mark = behind.reduce((least, [, of]) => Math.min(least, of), others)
    const shardMarks: ShardMarks | null =
      behind.length === 0
        ? null
        : {
            version,
            others,
            shards: Object.fromEntries(behind.map(([shard, of]) => [shard, of])),
            rows: Object.fromEntries(behind.map(([shard, , rows]) => [shard, rows])),
          }
    readableLagSeconds.set(Math.max(0, clock.latest() - mark) / 1000)
    published = Math.max(published, others)
    keep(published)
    await publishWatermark(postgres, collectorId, mark, shardMarks)
  }
  return runEvery(publishMs, publish, (error) =>
    log.warn({ error: error.message }, 'complete_until does not advance'),
  )
}
