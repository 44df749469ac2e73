import { repeat } from '../../platform/jobs/repeat.ts'
import type { WarnLog } from '../../platform/log.ts'
import { readableLagSeconds } from '../../platform/metrics.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Shipper } from '../shipper/shipper.ts'
import { publishWatermark } from './collectors.ts'

const publishMs = 1_000

/**
 * Publishes, every second, up to when everything that this machine has received is in ClickHouse: the smallest of what
 * its workers say (Spool.lowMark) and of what waits to be shipped. A worker tells of a segment that it seals before it
 * answers, on the same channel, so whatever is before its mark and no longer in its spool is with the shipper. While
 * a worker does not answer, or ClickHouse does not, nothing is published.
 */
export function keepWatermark({
  workers,
  shipper,
  postgres,
  collectorId,
  keep,
  log,
}: {
  /** What each worker says; null when one does not answer. */
  workers: { lowMarks(): Promise<number[] | null> }
  shipper: Pick<Shipper, 'lowMark' | 'noticeRestart'>
  postgres: Postgres
  collectorId: string
  /** Keeps what is about to be published on this machine: a start while PostgreSQL is away keeps to it. */
  keep(mark: number): void
  log: WarnLog
}) {
  let published = 0
  const publish = async () => {
    const marks = await workers.lowMarks()
    if (!marks) return
    await shipper.noticeRestart()
    const mark = Math.min(...marks, shipper.lowMark)
    readableLagSeconds.set(Math.max(0, Date.now() - mark) / 1000)
    // Before anybody can know it: a worker that starts meanwhile keeps to it.
    published = Math.max(published, mark)
    keep(published)
    await publishWatermark(postgres, collectorId, mark)
  }
  const publishing = repeat(publishMs, publish, (error) =>
    log.warn({ error: error.message }, 'complete_until stands still'),
  )
  return {
    /** The latest that was published. */
    get published() {
      return published
    },
    stop: () => publishing.stop(),
  }
}
