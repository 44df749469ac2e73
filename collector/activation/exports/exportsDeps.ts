import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Allowance } from '../../billing/allowance.ts'
import type { Billing } from '../../billing/billing.ts'
import type { EventStores } from '../../events/query/eventStores.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { IntegrationsDeps, OpenDeps } from '../integrations/integrationsDeps.ts'

export interface ExportsDeps extends IntegrationsDeps {
  /** Runs take free answers from it. */
  readonly allowance: Pick<Allowance, 'takeForWork'>
}

export interface SendDeps extends OpenDeps, EventStores, Pick<ExportsDeps, 'allowance'> {
  readonly openQueryExecutor: OpenQueryExecutor
  readonly billing: Billing
  /** The directory for the file of a chunk until it is sent. */
  readonly temporaryDirectory: string
  readonly log: WarnLog
}
