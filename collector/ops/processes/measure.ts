import { measureJobs } from '../../api/health/measureJobs.ts'
import { measureShards } from '../../api/health/measureShards.ts'
import { answersInTime } from '../../api/health/watchStores.ts'
import { measureReports } from '../../billing/reports.ts'
import type { Config } from '../../config.ts'
import { measureSpool } from '../../ingest/spool/waiting.ts'
import type { Stores } from '../../platform/stores/openStores.ts'
import type { Background } from './queues.ts'
import type { Shipping } from './shipping.ts'

/** How long /metrics waits for the metrics of the stores. */
const storesMsMax = 1_000

/**
 * Creates the function that updates the primary's own metrics. If a store is unavailable, its metrics stay
 * unchanged.
 */
export const createMeasure =
  (
    { spoolBytesMax }: Pick<Config, 'spoolBytesMax'>,
    { clickhouse, postgres }: Stores,
    { spoolDirectory, replicatedLog }: Pick<Shipping, 'spoolDirectory' | 'replicatedLog'>,
    background: Background | null,
  ) =>
  async (): Promise<void> => {
    measureSpool(spoolDirectory, spoolBytesMax)
    replicatedLog?.measure()
    const measured = Promise.all([
      measureShards(clickhouse.live),
      background?.jobs.then(measureJobs),
      background?.reportsUsage && measureReports(postgres.pool),
    ])
    await answersInTime(
      measured.then(() => true),
      storesMsMax,
    )
  }
