import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { OptOuts } from '../../ingest/beacon/optOutRegistry.ts'
import type { EventLog } from '../../ingest/log/eventLog.ts'
import type { Locate } from '../../ingest/normalize/address.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface CampaignsDeps {
  postgres: Postgres
  openQueryExecutor: OpenQueryExecutor
  cursors: Cursors
  /** Returns the owners of the campaigns that a request may read. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
  /** Milliseconds since 1970. */
  now(): number
}

/** Dependencies of the routes that receive DSP events. */
export interface DeliveryDeps {
  postgres: Postgres
  /** The log of the table `events`. */
  log: EventLog
  /** People whose events are not stored. */
  optOuts: OptOuts
  locate: Locate
}
