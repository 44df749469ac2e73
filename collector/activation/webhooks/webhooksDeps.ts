import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface WebhooksDeps {
  postgres: Postgres
  cursors: Cursors
  /** Returns the owners of the webhooks that a request may read. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
  /** Checks that addresses are public. */
  outbound: Outbound
  secretBox: SecretBox
}
