import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** What opening a destination takes. */
export interface OpenDeps {
  readonly postgres: Postgres
  /** Sends to addresses that customers gave, none of them inside the network. */
  readonly outbound: Outbound
  /** Opens integrations' secrets. */
  readonly secretBox: SecretBox
  /** Milliseconds since 1970. */
  now(): number
}

/** Dependencies of the integrations' routes. */
export interface IntegrationsDeps extends OpenDeps {
  readonly cursors: Cursors
  /** The owners of the integrations that a request may read. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
}
