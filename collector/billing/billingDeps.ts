import type { Postgres } from '../platform/postgres/pool.ts'

/** What the billing routes are built from. */
export interface BillingDeps {
  postgres: Postgres
  /** Milliseconds since 1970; says which day it is. */
  now(): number
}
