import type { Principal } from '../access/principal.ts'
import type { RecordScope } from '../access/recordScope.ts'
import type { Cursors } from '../http/cursors.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Sealer } from '../outbound/sealer.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

/** What the routes of webhooks are built from. */
export interface WebhooksDeps {
  postgres: Postgres
  /** Signs where pages go on. */
  cursors: Cursors
  /** Whose webhooks a request is about. Throws 403 and 404. */
  recordScopeOf(principal: Principal, asked: string | undefined): Promise<RecordScope>
  /** Checks addresses. */
  outbound: Outbound
  /** Keeps the secrets that messages are signed with. */
  sealer: Sealer
}
