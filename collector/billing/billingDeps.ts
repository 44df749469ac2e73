import type { Postgres } from '../platform/postgres/pool.ts'

/** Dependencies of the billing routes. */
export interface BillingDeps {
  postgres: Postgres
  /** Milliseconds since 1970; says which day it is. */
  now(): number
}
