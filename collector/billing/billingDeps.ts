import type { Postgres } from '../platform/postgres/pool.ts'
import type { Allowance } from './allowance.ts'

export interface BillingDeps {
  postgres: Postgres
  allowance: Pick<Allowance, 'read'>
  /** The current time in milliseconds since 1970, which determines the day. */
  now(): number
}
