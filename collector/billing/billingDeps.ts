import type { Postgres } from '../platform/postgres/pool.ts'

/** Dependencies of the billing routes. */
export interface BillingDeps {
  postgres: Postgres
  /** The current time in milliseconds since 1970, which determines the day. */
  now(): number
}
