import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface OpenDeps {
  readonly postgres: Postgres
  /** Sends requests to customers' addresses, never to internal ones. */
  readonly outbound: Outbound
  readonly secretBox: SecretBox
  /** Milliseconds since 1970. */
  now(): number
}

export interface IntegrationsDeps extends OpenDeps {
  readonly cursors: Cursors
  /** Returns the owners of the integrations that a request may read. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
}
