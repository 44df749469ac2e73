import { watchStores } from '../../api/health/watchStores.ts'
import { keepUploadsClean } from '../../audiences/lists/upload/cleanUploads.ts'
import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import { keepErasing } from '../../identity/privacy/erasures.ts'
import { keepWatermark } from '../../ingest/shipper/watermark.ts'
import { oldestWaitingAt } from '../../ingest/spool/waiting.ts'
import type { Log } from '../../platform/log.ts'
import type { Stores } from '../../platform/stores/openStores.ts'
import type { Shipping } from './shipping.ts'
import type { Workers } from './startWorkers.ts'

interface ChoresOptions {
  stores: Stores
  workers: Workers
  shipping: Shipping
  collectorId: string
  takesBeacons: boolean
  /** The uploads of this machine; null if it answers no reads. */
  uploads: Uploads | null
  /** Called with each watermark before it is published. */
  onWatermark(mark: number): void
  log: Log
}

interface Chore {
  stop(): Promise<void>
}

/**
 * Starts the recurring work of this machine's primary. It is not a job, because another machine cannot do it.
 */
export function startChores(options: ChoresOptions): Chore {
  const chores = [...choresOfRole(options), ...choresOfUploads(options)]
  return {
    async stop() {
      for (const chore of chores.toReversed()) await chore.stop()
    },
  }
}

/**
 * A machine that receives beacons publishes its watermark and erases. Any other machine watches the stores
 * that it needs.
 */
function choresOfRole(options: ChoresOptions): Chore[] {
  const { stores, workers, shipping, collectorId, takesBeacons, onWatermark, log } = options
  const postgres = stores.postgres.pool
  if (!takesBeacons) {
    const { live } = stores.clickhouse
    return [watchStores({ postgres, clickhouse: live }, (away) => workers.tellStores(away))]
  }
  // Rows in a replicated log are on their way as long as the watermark has not passed them.
  let watermarkMs = shipping.replicatedLog ? 0 : Infinity
  const erasing = keepErasing({
    postgres,
    collectorId,
    deadLetterDirectory: shipping.deadLetterDirectory,
    log,
    oldestWaitingAt: () =>
      Math.min(
        oldestWaitingAt(shipping.spoolDirectory),
        shipping.shippers.events.repeatsFrom,
        watermarkMs,
      ),
  })
  const watermark = keepWatermark({
    workers,
    shipper: shipping.shippers.events,
    replicatedLog: shipping.replicatedLog,
    postgres,
    collectorId,
    log,
    keep(mark) {
      if (shipping.replicatedLog) watermarkMs = mark
      onWatermark(mark)
    },
  })
  return [erasing, watermark]
}

const choresOfUploads = ({ stores, uploads, log }: ChoresOptions): Chore[] =>
  uploads ? [keepUploadsClean({ postgres: stores.postgres.pool, uploads, log })] : []
