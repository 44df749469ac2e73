import type { Lease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** How far a stream is consumed. */
export interface Progress {
  /** ClickHouse has all messages up to this position. */
  committed: number
  /** The earliest time of receipt of committed rows that ClickHouse may have lost, epoch milliseconds; Infinity: none. */
  doubtfulFrom: number
}

/** The state of the committed messages, for the next owner and for the watermark. */
export interface Verification {
  readonly doubtfulFrom: number
  /** The start times of the servers that have all committed messages (shipper/shippedBatches.ts); null: unknown. */
  readonly starts: readonly number[] | null
}

/**
 * Reads the committed position, and the last `Verification.starts`. Those of an earlier stream of the same name are void.
 * `firstSeq` is the stream’s first message: earlier ones are deleted, so nobody waits for them.
 */
export const beginStream = (
  owner: Lease,
  stream: string,
  { created, firstSeq }: { created: string; firstSeq: number },
): Promise<{ committed: number; starts: number[] | null }> =>
  owner.inTransaction(async (client) => {
    const { rows } = await client.query<{ committed: number; starts: number[] | null }>(
      `INSERT INTO event_log_streams AS known (stream, stream_created, committed) VALUES ($1, $2, $3::bigint - 1)
       ON CONFLICT (stream) DO UPDATE SET stream_created = $2,
         committed = greatest(CASE WHEN known.stream_created = $2 THEN known.committed ELSE 0 END, $3::bigint - 1),
         clickhouse_starts = CASE WHEN known.stream_created = $2 THEN known.clickhouse_starts END
       RETURNING committed::float8 AS committed, clickhouse_starts AS starts`,
      [stream, created, firstSeq],
    )
    return rows[0]!
  })

/** Records that ClickHouse has the messages after `from`, up to `to`. It may be repeated. */
export const commitMessages = (
  owner: Lease,
  stream: string,
  from: number,
  to: number,
): Promise<void> =>
  owner.inTransaction(async (client) => {
    const { rowCount } = await client.query(
      'UPDATE event_log_streams SET committed = $3 WHERE stream = $1 AND committed IN ($2, $3)',
      [stream, from, to],
    )
    if (rowCount === 0) throw new Error(`${stream}: the messages before ${from} are not committed`)
  })

export const recordVerification = (
  owner: Lease,
  stream: string,
  { doubtfulFrom, starts }: Verification,
): Promise<void> =>
  owner.inTransaction(async (client) => {
    // While rows are in doubt, the earlier starts stay.
    await client.query(
      `UPDATE event_log_streams SET doubtful_from_ms = $2, clickhouse_starts = coalesce($3, clickhouse_starts)
       WHERE stream = $1`,
      [stream, doubtfulFrom, starts && JSON.stringify(starts)],
    )
  })

export async function readProgress(postgres: Postgres, stream: string): Promise<Progress> {
  const { rows } = await postgres.query<Progress>(
    `SELECT committed::float8 AS committed, doubtful_from_ms AS "doubtfulFrom"
     FROM event_log_streams WHERE stream = $1`,
    [stream],
  )
  return rows[0] ?? { committed: 0, doubtfulFrom: Infinity }
}
