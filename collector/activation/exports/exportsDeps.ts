import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Billing } from '../../billing/billing.ts'
import type { EventStores } from '../../events/query/eventStores.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { IntegrationsDeps, OpenDeps } from '../integrations/integrationsDeps.ts'

/** Dependencies of the exports' routes. */
export type ExportsDeps = IntegrationsDeps

/** Dependencies of sending. */
export interface SendDeps extends OpenDeps, EventStores {
  readonly openQueryExecutor: OpenQueryExecutor
  readonly billing: Billing
  /** The directory for the file of a chunk until it is sent. */
  readonly temporaryDirectory: string
  readonly log: WarnLog
}
