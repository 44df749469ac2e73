import type { Postgres } from './postgres/pool.ts'

/** Largest accepted lead of this machine's clock over PostgreSQL's. */
export const aheadMsMax = 5_000

/**
 * PostgreSQL's time, which all collectors share: a lower and an upper bound of the current time. Between two
 * comparisons they advance with the monotonic clock, so a change of this machine's clock does not affect
 * them.
 */
export interface SharedClock {
  /** Epoch milliseconds that PostgreSQL's clock has reached; -Infinity before the first comparison. */
  earliest(): number
  /** Returns epoch milliseconds that it has certainly not passed; Infinity before the first comparison. */
  latest(): number
  /** Applies the upper bound that another process of this machine found. */
  note(latestMs: number): void
  /** Queries PostgreSQL. Rejects without it. */
  compare(postgres: Postgres): Promise<void>
}

export function createSharedClock(): SharedClock {
  let known: { ms: number; askedAt: number; answeredAt: number } | null = null
  return {
    earliest: () => (known ? known.ms + performance.now() - known.answeredAt : -Infinity),
    latest: () => (known ? known.ms + performance.now() - known.askedAt : Infinity),
    note(latestMs) {
      if (!Number.isFinite(latestMs)) return
      const at = performance.now()
      known = { ms: latestMs, askedAt: at, answeredAt: at }
    },
    async compare(postgres) {
      const askedAt = performance.now()
      const { rows } = await postgres.query<{ ms: number }>(
        'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
      )
      known = { ms: rows[0]!.ms, askedAt, answeredAt: performance.now() }
    },
  }
}
