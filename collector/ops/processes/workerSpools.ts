import { openNatsLogs } from '../../ingest/nats/natsLog.ts'
import { type EventLogs, openSpools } from '../../ingest/spool/spools.ts'
import { lockDirectory } from '../../platform/localStores/lock.ts'
import { commitRows } from '../../platform/metrics.ts'
import type { WorkerSetup } from './messages.ts'
import type { Primary } from './workForPrimary.ts'

/** How long to wait until a predecessor without a primary ends. */
const lockWaitMs = 5_000

/**
 * Opens the logs of this worker: spools in a directory that it alone uses, in front of them NATS if it is configured.
 * The primary ships the sealed segments.
 */
export async function openWorkerSpools(
  { config, spoolDirectory, receivedFrom }: WorkerSetup,
  primary: Primary,
): Promise<{ logs: EventLogs; close(): Promise<void> }> {
  const lock = await lockDirectory(spoolDirectory, lockWaitMs)
  const bytesMax = Math.floor(config.spoolBytesMax / config.workers)
  const spools = openSpools(
    spoolDirectory,
    { bytesMax, receivedFrom, clock: primary.clock },
    {
      sealed: primary.sealed,
      noRoom: primary.noRoom,
      commit: (table, rows) => table === 'events' && commitRows.observe(rows),
    },
  )
  const nats = config.nats && (await openNatsLogs(config.nats, spools))
  const logs: EventLogs = nats?.logs ?? spools
  primary.reportLowMarkOf(logs.events)
  return {
    logs,
    async close() {
      await Promise.all(Object.values(logs).map((log) => log.close()))
      await nats?.close()
      await lock.release()
    },
  }
}
