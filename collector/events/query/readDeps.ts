import type { ScopeOf } from '../../api/access/policy.ts'
import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Allowance } from '../../billing/allowance.ts'
import type { Billing } from '../../billing/billing.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Dependencies of all routes that read events. */
export interface ReadDeps {
  /** Opens the query executor of a request: on live events, or on the sample database for a test key. */
  openQueryExecutor: OpenQueryExecutor
  /** The scope of a request within the principal's access. Throws 403 and 404 (createScopeOf). */
  scopeOf: ScopeOf
  /** Charges every response with records. */
  billing: Billing
  /** Takes free answers about people from an organization's daily allowance. */
  allowance: Allowance
  /** The store of budgets, limits and usage. */
  postgres: Postgres
  cursors: Cursors
  /** Milliseconds since 1970. */
  now(): number
}
