/**
 * The log in which acknowledged rows wait for ClickHouse. Collectors append to it, and shippers consume it. It is the
 * spool of a machine (spool/), or NATS JetStream for several machines (nats/). A shipper sees it as batches
 * (shipper/logBatches.ts).
 */

/** One table's log, as the worker of a collector sees it. */
export interface EventLog {
  /**
   * Returns the `received_at` of rows that arrive now, epoch milliseconds; it never goes back. It is the same in one turn
   * of the event loop.
   */
  receive(): number
  /**
   * Keeps rows, each the text of a JSON object with at least one member. Resolves when they are durable. Rejects with
   * LogUnavailable when none was acknowledged. `receivedAt` is their `received_at`, from `receive`.
   */
  append(rows: readonly string[], receivedAt?: number): Promise<void>
  /**
   * Returns a time, epoch milliseconds. All rows received earlier are in sealed segments of the spool, which the shipper
   * knows, or in NATS, at `position` or earlier.
   */
  lowMark(): number
  /** The position in NATS of the last row; 0 in the spool. */
  readonly position: number
  /** Records the latest watermark that this machine has published, epoch milliseconds. */
  notePublished(mark: number): void
  /** The reason why appends fail now; null if they succeed. */
  readonly trouble: string | null
  /** Makes all rows durable, and refuses further ones. */
  close(): Promise<void>
}

/** Thrown by `append`: the caller must not acknowledge, and may try again later. */
export class LogUnavailable extends Error {}
