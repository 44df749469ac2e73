import { publishWatermark } from '../../platform/collectors.ts'
import type { WarnLog } from '../../platform/log.ts'
import { clockAheadSeconds, readableLagSeconds } from '../../platform/metrics.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { runEvery } from '../../platform/runEvery.ts'
import { createSharedClock } from '../../platform/sharedClock.ts'

const publishMs = 1_000

/** Until `mark`, epoch milliseconds, a worker has written all rows to its log, in NATS at `position` or earlier. */
export interface LowMark {
  mark: number
  position: number
}

/**
 * Publishes, every second, until when ClickHouse has everything that this machine received. It is the
 * smallest of its workers' marks (EventLog.lowMark) and of the batches that wait for the shipper. A worker
 * reports a segment that it seals before it answers, on the same channel. So everything before its mark that
 * has left its spool is with the shipper. A replicated log says until when ClickHouse has its rows. While a
 * worker, ClickHouse or the replicated log does not answer, nothing is published.
 * A watermark is never ahead of PostgreSQL's clock, regardless of this machine's clock.
 */
export function keepWatermark({
  workers,
  shipper,
  replicatedLog,
  postgres,
  collectorId,
  keep,
  log,
}: {
  /** Returns the mark of each worker, and its position in a replicated log; null if one does not answer. */
  workers: { lowMarks(latestMs: number, published: number): Promise<LowMark[] | null> }
  shipper: { readonly lowMark: number; noticeRestart(): Promise<void> }
  /** Null: the log is the spool of this machine. */
  replicatedLog: { storedUntil(mark: number, position: number): Promise<number | null> } | null
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
    const marks = await workers.lowMarks(clock.latest(), published)
    if (!marks) return
    const received = Math.min(...marks.map(({ mark }) => mark))
    const position = Math.max(...marks.map((worker) => worker.position))
    const stored = replicatedLog ? await replicatedLog.storedUntil(received, position) : received
    if (stored === null) return
    await shipper.noticeRestart()
    const mark = Math.floor(Math.min(stored, shipper.lowMark, clock.earliest()))
    readableLagSeconds.set(Math.max(0, clock.latest() - mark) / 1000)
    published = Math.max(published, mark)
    keep(published)
    await publishWatermark(postgres, collectorId, mark)
  }
  return runEvery(publishMs, publish, (error) =>
    log.warn({ error: error.message }, 'complete_until does not advance'),
  )
}
