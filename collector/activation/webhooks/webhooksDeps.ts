import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Dependencies of the routes of webhooks. */
export interface WebhooksDeps {
  postgres: Postgres
  /** Signs the cursors of pages. */
  cursors: Cursors
  /** The owners of the webhooks that a request may read. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
  /** Checks addresses. */
  outbound: Outbound
  /** Keeps the secrets that messages are signed with. */
  secretBox: SecretBox
}
