import type { Queryable } from '../../platform/postgres/transaction.ts'
import { ApiError } from '../http/errors.ts'

/** Tries available at once, and the seconds until the next one. */
export interface Bucket {
  name: string
  burst: number
  everySeconds: number
}

/** Takes a token of each bucket, or of none. `refused` is 0 if it took them. */
export async function takeTokens(
  postgres: Queryable,
  buckets: readonly Bucket[],
): Promise<{ refused: number; wait_seconds: number }> {
  const { rows } = await postgres.query<{ refused: number; wait_seconds: number }>(
    'SELECT refused, wait_seconds FROM take_tokens($1, $2, $3)',
    [
      buckets.map(({ name }) => name),
      buckets.map(({ everySeconds }) => everySeconds),
      buckets.map(({ burst }) => burst),
    ],
  )
  return rows[0]!
}

/** Takes a token of each bucket, or throws 429 "rate_limited" with Retry-After. */
export async function requireToken(postgres: Queryable, buckets: readonly Bucket[]): Promise<void> {
  const { refused, wait_seconds } = await takeTokens(postgres, buckets)
  if (refused === 0) return
  throw new ApiError(429, 'rate_limited', 'Too many attempts. Wait, then try again.', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(wait_seconds))) },
  })
}
