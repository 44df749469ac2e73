import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** What the routes of webhooks are built from. */
export interface WebhooksDeps {
  postgres: Postgres
  /** Signs where pages go on. */
  cursors: Cursors
  /** Whose webhooks a request is about. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
  /** Checks addresses. */
  outbound: Outbound
  /** Keeps the secrets that messages are signed with. */
  secretBox: SecretBox
}
