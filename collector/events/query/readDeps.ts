import type { ScopeOf } from '../../api/access/policy.ts'
import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Billing } from '../../billing/billing.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** What the areas that answer reads are built from; one record, handed to each area's routes. */
export interface ReadDeps {
  /** What a request reads through: the events of real visitors, or for a test key the sample database. */
  openQueryExecutor: OpenQueryExecutor
  /** What of the principal's events the request may see. Throws 404, and 403 "pixel inactive"; see createScopeOf. */
  scopeOf: ScopeOf
  /** What every response with records is charged through. */
  billing: Billing
  /** Where budgets, limits and usage stand. */
  postgres: Postgres
  /** Signs where pages go on. */
  cursors: Cursors
  /** Milliseconds since 1970. */
  now(): number
}
