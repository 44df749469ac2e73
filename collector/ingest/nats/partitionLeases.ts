import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'

/** The right of this machine to consume a partition, until it expires or is released. */
export interface PartitionLease {
  readonly stream: string
  /** The fencing token: PostgreSQL accepts no commit with an earlier one. */
  readonly token: number
  /** The previous owner did not release it: one of its inserts may still run. */
  readonly mayOtherInsertsRun: boolean
  /** Whether no other machine can own the partition now. */
  isHeld(): boolean
}

export interface PartitionReport {
  /** When the first committed row that ClickHouse may have lost was received, epoch milliseconds; Infinity: none. */
  readonly doubtfulFrom: number
  /** The start times of the servers that have all committed messages (shipper/shippedSegments.ts); null: unknown. */
  readonly starts: readonly number[] | null
}

/** How far the shippers of all machines are. */
export interface LogProgress {
  /** The committed position of each partition. */
  committed: number[]
  /** The earliest time of receipt of rows that ClickHouse may have lost, epoch milliseconds; Infinity: none. */
  doubtfulFrom: number
}

/** A lease without renewals ends after this time… */
const leaseSeconds = 8
/** …but its owner stops earlier, because its process may stall. */
const heldMs = 5_000
/** A machine that was silent for this long has no share. */
const consumerSeconds = 10

interface Held {
  token: number
  /** When PostgreSQL last confirmed the lease, by performance.now(). */
  confirmedAt: number
}

/** The leases of one machine on partitions, in PostgreSQL: a few statements a second, however many events arrive. */
export class PartitionLeases {
  readonly #postgres: Postgres
  readonly #consumerId: string
  readonly #streams: readonly string[]
  readonly #held = new Map<string, Held>()

  constructor(postgres: Postgres, consumerId: string, streams: readonly string[]) {
    this.#postgres = postgres
    this.#consumerId = consumerId
    this.#streams = streams
  }

  /** Creates the rows of new partitions. */
  async prepare(): Promise<void> {
    await this.#postgres.query(
      'INSERT INTO event_log_partitions (stream) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING',
      [this.#streams],
    )
  }

  /** Renews all leases, with their reports; without one, that of the previous owner stays. Resolves with this machine’s share: how many partitions it should own. */
  async renew(reports: ReadonlyMap<string, PartitionReport>): Promise<number> {
    const sentAt = performance.now()
    const held = [...this.#held]
    const { rows } = await this.#postgres.query<{ live: number; renewed: string[] | null }>(
      `WITH me AS (
         INSERT INTO event_log_consumers (consumer_id, seen_at) VALUES ($1, clock_timestamp())
         ON CONFLICT (consumer_id) DO UPDATE SET seen_at = excluded.seen_at
       ), renewed AS (
         UPDATE event_log_partitions p
         SET expires_at = clock_timestamp() + make_interval(secs => $2),
           doubtful_from_ms = CASE WHEN mine.reports THEN mine.doubtful ELSE p.doubtful_from_ms END,
           clickhouse_starts = coalesce(mine.starts, p.clickhouse_starts)
         FROM unnest($3::text[], $4::bigint[], $5::float8[], $7::jsonb[], $8::bool[])
           mine (stream, token, doubtful, starts, reports)
         WHERE p.stream = mine.stream AND p.token = mine.token AND p.owner = $1
         RETURNING p.stream
       )
       SELECT 1 + (SELECT count(*) FROM event_log_consumers
                   WHERE consumer_id <> $1 AND seen_at > clock_timestamp() - make_interval(secs => $6))::int AS live,
         (SELECT array_agg(stream) FROM renewed) AS renewed`,
      [
        this.#consumerId,
        leaseSeconds,
        held.map(([stream]) => stream),
        held.map(([, { token }]) => token),
        held.map(([stream]) => {
          const from = reports.get(stream)?.doubtfulFrom ?? Infinity
          return from === Infinity ? null : from
        }),
        consumerSeconds,
        held.map(([stream]) => {
          const starts = reports.get(stream)?.starts
          return starts ? JSON.stringify(starts) : null
        }),
        held.map(([stream]) => reports.has(stream)),
      ],
    )
    const { live, renewed } = rows[0]!
    for (const [stream, lease] of held) {
      if (renewed?.includes(stream)) lease.confirmedAt = sentAt
      else if (this.#held.get(stream) === lease) this.#held.delete(stream)
    }
    return Math.ceil(this.#streams.length / live)
  }

  /** Acquires at most `limit` partitions that no machine owns. */
  async acquire(limit: number): Promise<PartitionLease[]> {
    if (limit <= 0) return []
    const sentAt = performance.now()
    const { rows } = await this.#postgres.query<{
      stream: string
      token: number
      was_owned: boolean
    }>(
      `WITH free AS (
         SELECT stream, owner IS NOT NULL AS was_owned FROM event_log_partitions
         WHERE stream = ANY($1) AND (owner IS NULL OR expires_at < clock_timestamp())
         ORDER BY random() LIMIT $2 FOR UPDATE SKIP LOCKED
       )
       UPDATE event_log_partitions p
       SET owner = $3, token = p.token + 1, expires_at = clock_timestamp() + make_interval(secs => $4)
       FROM free WHERE p.stream = free.stream
       RETURNING p.stream, p.token::float8 AS token, free.was_owned`,
      [this.#streams, limit, this.#consumerId, leaseSeconds],
    )
    return rows.map(({ stream, token, was_owned }) => {
      const held: Held = { token, confirmedAt: sentAt }
      this.#held.set(stream, held)
      return {
        stream,
        token,
        mayOtherInsertsRun: was_owned,
        isHeld: () =>
          this.#held.get(stream) === held && performance.now() - held.confirmedAt < heldMs,
      }
    })
  }

  /**
   * Reads the committed position under a lease, and the last `PartitionReport.starts`. The positions of an earlier stream of the same name are void. `firstSeq`
   * is the stream’s first message: earlier ones are deleted, so nobody waits for them.
   */
  begin(
    { stream, token }: PartitionLease,
    streamCreated: string,
    firstSeq: number,
  ): Promise<{ committed: number; starts: number[] | null }> {
    return inTransaction(this.#postgres, async (client) => {
      const { rows } = await client.query<{ committed: number; starts: number[] | null }>(
        `UPDATE event_log_partitions SET stream_created = $3,
           committed = greatest(CASE WHEN stream_created = $3 THEN committed ELSE 0 END, $4::bigint - 1),
           clickhouse_starts = CASE WHEN stream_created = $3 THEN clickhouse_starts END
         WHERE stream = $1 AND token = $2
         RETURNING committed::float8 AS committed, clickhouse_starts AS starts`,
        [stream, token, streamCreated, firstSeq],
      )
      if (!rows[0]) throw new LeaseLost(stream)
      return rows[0]
    })
  }

  /** Records that ClickHouse has the messages after `from`, up to `to`. Rejects with LeaseLost for a stale token. */
  async commit({ stream, token }: PartitionLease, from: number, to: number): Promise<void> {
    const { rowCount } = await this.#postgres.query(
      `UPDATE event_log_partitions SET committed = $4
       WHERE stream = $1 AND token = $2 AND committed IN ($3, $4)`,
      [stream, token, from, to],
    )
    if (rowCount === 0) {
      this.#held.delete(stream)
      throw new LeaseLost(stream)
    }
  }

  /** Gives a lease back. Without `isClean`, an insert may still run: the lease expires later. */
  async release({ stream, token }: PartitionLease, isClean: boolean): Promise<void> {
    this.#held.delete(stream)
    if (isClean)
      await this.#postgres.query(
        'UPDATE event_log_partitions SET owner = NULL WHERE stream = $1 AND token = $2',
        [stream, token],
      )
  }

  /** Gives up this machine’s share. */
  async leave(): Promise<void> {
    await this.#postgres.query('DELETE FROM event_log_consumers WHERE consumer_id = $1', [
      this.#consumerId,
    ])
  }
}

/** Another machine owns the partition. */
class LeaseLost extends Error {
  constructor(stream: string) {
    super(`the lease of ${stream} was lost, possibly to another collector`)
  }
}

/** Returns the progress of partitions, in the order of the names. */
export async function readProgress(
  postgres: Postgres,
  streams: readonly string[],
): Promise<LogProgress> {
  const { rows } = await postgres.query<{
    stream: string
    committed: number
    doubtful_from_ms: number | null
  }>(
    `SELECT stream, committed::float8 AS committed, doubtful_from_ms
     FROM event_log_partitions WHERE stream = ANY($1)`,
    [streams],
  )
  const rowOf = new Map(rows.map((row) => [row.stream, row]))
  return {
    committed: streams.map((stream) => rowOf.get(stream)?.committed ?? 0),
    doubtfulFrom: rows.reduce(
      (least, { doubtful_from_ms }) => Math.min(least, doubtful_from_ms ?? Infinity),
      Infinity,
    ),
  }
}
