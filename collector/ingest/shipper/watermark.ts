import { publishWatermark } from '../../platform/collectors.ts'
import type { WarnLog } from '../../platform/log.ts'
import { clockAheadSeconds, readableLagSeconds } from '../../platform/metrics.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { runEvery } from '../../platform/runEvery.ts'
import { createSharedClock } from '../../platform/sharedClock.ts'

const publishMs = 1_000
const unshared = { committed: [], doubtfulFrom: Infinity }

/**
 * Publishes, every second, until when ClickHouse has everything that this machine received. It is the
 * smallest of its workers' marks (EventLog.lowMark) and of the batches that wait for the shipper. A worker
 * reports a segment that it seals before it answers, on the same channel. So everything before its mark that
 * has left its spool is with the shipper. While a worker or ClickHouse does not answer, nothing is published.
 * A watermark is never ahead of PostgreSQL's clock, regardless of this machine's clock.
 */
export function keepWatermark({
  workers,
  shipper,
  readProgress,
  postgres,
  collectorId,
  keep,
  log,
}: {
  /** Returns the mark of each worker; null if one does not answer. */
  workers: {
    lowMarks(latestMs: number, published: number, committed: number[]): Promise<number[] | null>
  }
  shipper: { readonly lowMark: number; noticeRestart(): Promise<void> }
  /** How far the shippers of a replicated log are; null: the log is the spool of this machine. */
  readProgress?: (() => Promise<{ committed: number[]; doubtfulFrom: number }>) | null | undefined
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
    const { committed, doubtfulFrom } = (await readProgress?.()) ?? unshared
    const marks = await workers.lowMarks(clock.latest(), published, committed)
    if (!marks) return
    await shipper.noticeRestart()
    const mark = Math.floor(Math.min(...marks, shipper.lowMark, doubtfulFrom, clock.earliest()))
    readableLagSeconds.set(Math.max(0, clock.latest() - mark) / 1000)
    published = Math.max(published, mark)
    keep(published)
    await publishWatermark(postgres, collectorId, mark)
  }
  return runEvery(publishMs, publish, (error) =>
    log.warn({ error: error.message }, 'complete_until does not advance'),
  )
}
