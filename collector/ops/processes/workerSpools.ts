import { openSpools, type Spools } from '../../ingest/spool/spools.ts'
import { lockDirectory } from '../../platform/localStores/lock.ts'
import { commitRows } from '../../platform/metrics.ts'
import type { WorkerSetup } from './messages.ts'
import type { Primary } from './primary.ts'

/** How long to wait until a predecessor without a primary ends. */
const lockWaitMs = 5_000

/** Opens the spools in a directory that this worker alone uses; the primary ships the sealed segments. */
export async function openWorkerSpools(
  { config, spoolDirectory, receivedFrom }: WorkerSetup,
  primary: Primary,
): Promise<{ spools: Spools; close(): Promise<void> }> {
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
  primary.reportLowMarkOf(spools.events)
  return {
    spools,
    async close() {
      await Promise.all(Object.values(spools).map((spool) => spool.close()))
      await lock.release()
    },
  }
}
