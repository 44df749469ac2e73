import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { runEvery } from '../runEvery.ts'
import type { Postgres } from './pool.ts'
import { inTransaction, type Queryable } from './transaction.ts'

/** Lifetime of a lease after its last renewal. A killed process blocks its work for this time. */
const leaseMs = 15_000
const renewMs = 4_000
const pollMs = 100

/** Another process holds the lease, or has taken it over. */
export class LeaseHeldError extends Error {}

/** The exclusive right to a piece of work, which a row of `leases` records. */
export interface Lease {
  /** Aborts when another process has taken the lease over. */
  readonly signal: AbortSignal
  /** Extends the lease, and resolves with its lifetime in milliseconds. Throws LeaseHeldError. */
  renew(): Promise<number>
  /** Commits `work` only if this process holds the lease; otherwise throws LeaseHeldError. */
  inTransaction<T>(work: (client: Queryable) => Promise<T>): Promise<T>
}

/**
 * Runs `work` under the lease `name`, and renews the lease until `work` ends. It holds no connection
 * meanwhile. Waits up to `waitMs` for another holder, then throws LeaseHeldError.
 */
export async function withLease<T>(
  postgres: Postgres,
  name: string,
  work: (lease: Lease) => Promise<T>,
  waitMs = 0,
): Promise<T> {
  const token = randomUUID()
  await acquire(postgres, name, token, waitMs)
  const taken = new AbortController()
  const requireOurs = (rowCount: number | null) => {
    if (rowCount !== 0) return
    const error = new LeaseHeldError(`another process has taken over the lease ${name}`)
    taken.abort(error)
    throw error
  }
  const renew = async () => {
    const { rowCount } = await postgres.query(
      `UPDATE leases SET expires_at = now() + make_interval(secs => $3) WHERE name = $1 AND token = $2`,
      [name, token, leaseMs / 1_000],
    )
    requireOurs(rowCount)
    return leaseMs
  }
  const beat = async () => {
    if (!taken.signal.aborted) await renew()
  }
  // PostgreSQL may be unavailable for a moment; only the row decides who holds the lease.
  const heartbeat = runEvery(renewMs, beat, () => {})
  try {
    return await work({
      signal: taken.signal,
      renew,
      inTransaction: (change) =>
        inTransaction(postgres, async (client) => {
          const { rowCount } = await client.query(
            'SELECT FROM leases WHERE name = $1 AND token = $2 FOR UPDATE',
            [name, token],
          )
          requireOurs(rowCount)
          return change(client)
        }),
    })
  } finally {
    await heartbeat.stop()
    // If this fails, the lease expires.
    await postgres
      .query('DELETE FROM leases WHERE name = $1 AND token = $2', [name, token])
      .catch(() => {})
  }
}

async function acquire(
  postgres: Postgres,
  name: string,
  token: string,
  waitMs: number,
): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    const { rowCount } = await postgres.query(
      `INSERT INTO leases (name, token, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
       ON CONFLICT (name) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at
       WHERE leases.expires_at <= now()`,
      [name, token, leaseMs / 1_000],
    )
    if (rowCount !== 0) return
    if (performance.now() >= until)
      throw new LeaseHeldError(`another process holds the lease ${name}`)
    await delay(pollMs)
  }
}

/** Deletes leases of killed processes whose work nobody resumed. */
export async function deleteAbandonedLeases(postgres: Postgres): Promise<void> {
  await postgres.query("DELETE FROM leases WHERE expires_at < now() - interval '1 day'")
}
