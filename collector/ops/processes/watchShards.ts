import type { ShardBacklog } from '../../ingest/shipper/shardMarks.ts'
import type { WarnLog } from '../../platform/log.ts'
import { shardWaitingRows, shardWaitingSeconds } from '../../platform/metrics.ts'
import { runEvery } from '../../platform/runEvery.ts'
import type { Shipping } from './shipping.ts'

const logMs = 60_000
const checkMs = 1_000

/** Updates the metrics of events that wait for shards. */
export function measureWaiting(backlogs: ReadonlyMap<number, ShardBacklog>, shards: number): void {
  if (shards === 1) return
  for (let shard = 0; shard < shards; shard++) {
    const { rows = 0, oldestAt = Date.now() } = backlogs.get(shard) ?? {}
    const labels = { shard: String(shard + 1) }
    shardWaitingRows.set(labels, rows)
    shardWaitingSeconds.set(labels, Math.max(0, Date.now() - oldestAt) / 1000)
  }
}

/** Logs, once a minute for each shard, that events wait for it. */
export function logWaiting(
  { shardBacklogs }: Pick<Shipping, 'shardBacklogs'>,
  log: WarnLog,
): { stop(): Promise<void> } {
  const loggedAt = new Map<number, number>()
  return runEvery(
    checkMs,
    async () => {
      for (const [shard, { rows, oldestAt }] of shardBacklogs()) {
        const last = loggedAt.get(shard)
        if (last !== undefined && performance.now() - last < logMs) continue
        loggedAt.set(shard, performance.now())
        const since = new Date(oldestAt).toISOString()
        log.warn({ shard: shard + 1, events: rows, since }, 'events wait for an unavailable shard')
      }
    },
    () => {},
  )
}
