import type { GuardDeps } from '../api/access/guard.ts'
import type { Config } from '../config.ts'
import type { WarnLog } from '../platform/log.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { createVerifiesBackend } from './beacon/clientInfo.ts'
import { openIgnoredTraffic } from './beacon/ignoredTraffic.ts'
import { createIdentifyLimit, createIngestLimits } from './beacon/ingestLimits.ts'
import { openOptOuts } from './beacon/optOutRegistry.ts'
import { openPixelRegistry } from './beacon/pixelRegistry.ts'
import { createRecordRefusal, createStoreRejected } from './beacon/rejectedEvents.ts'
import { openTrackingPlans } from './beacon/trackingPlans.ts'
import { openDailySalt } from './beacon/visitor.ts'
import type { IngestDeps } from './ingestRoutes.ts'
import { openLocate } from './normalize/address.ts'
import { openPinnedScripts } from './script/pinnedScripts.ts'
import type { EventLogs } from './spool/spools.ts'

/** Dependencies of accepting beacons, with their shutdown. */
export interface Ingest extends IngestDeps {
  /** Stops following PostgreSQL. The caller that opened the logs closes them. */
  close(): Promise<void>
}

interface IngestSettings {
  readonly config: Config
  readonly postgres: { readonly url: string; readonly pool: Postgres }
  readonly guard: GuardDeps
  readonly logs: EventLogs
  /** Whether this process writes the machine's copies of PostgreSQL's data (platform/diskCache.ts). */
  readonly keepsCopies: boolean
  readonly log: WarnLog
}

/** Reads pixels, opt-outs, ignored traffic, tracking plans and the day's salt into memory, and follows their changes. */
export async function openIngest({
  config,
  postgres: { pool, url },
  guard,
  logs,
  keepsCopies,
  log,
}: IngestSettings): Promise<Ingest> {
  const locate = openLocate(config.ipDatabase)
  const copy = { dataDir: config.dataDir, keeps: keepsCopies }
  const pixels = await openPixelRegistry(pool, url, copy)
  const optOuts = await openOptOuts(pool, url, copy)
  const ignoredTraffic = await openIgnoredTraffic(pool, url, copy)
  const trackingPlans = await openTrackingPlans(pool, url, copy)
  const salt = await openDailySalt(pool, config.dataDir)
  return {
    pixels,
    optOuts,
    ignoredTraffic,
    trackingPlans,
    salt,
    logs,
    locate,
    pinned: openPinnedScripts(pool),
    limits: createIngestLimits(config),
    identifyLimit: createIdentifyLimit(config),
    recordRefusal: createRecordRefusal(logs.rejected_events, log),
    storeRejected: createStoreRejected(logs.rejected_events),
    verifiesBackend: createVerifiesBackend(guard),
    async close() {
      salt.close()
      await pixels.close()
      await optOuts.close()
      await ignoredTraffic.close()
      await trackingPlans.close()
    },
  }
}
