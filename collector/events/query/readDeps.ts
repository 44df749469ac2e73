import type { ScopeOf } from '../../api/access/policy.ts'
import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Billing } from '../../billing/billing.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Dependencies of all routes that read: one record for all areas. */
export interface ReadDeps {
  /** Opens the reader of a request: events of real visitors, or the sample database for a test key. */
  openQueryExecutor: OpenQueryExecutor
  /** What of the principal's events the request may see. Throws 404, and 403 "pixel inactive"; see createScopeOf. */
  scopeOf: ScopeOf
  /** What every response with records is charged through. */
  billing: Billing
  /** Where budgets, limits and usage stand. */
  postgres: Postgres
  /** Signs the cursors of pages. */
  cursors: Cursors
  /** Milliseconds since 1970. */
  now(): number
}
