import { busy } from '../../api/http/errors.ts'

/**
 * The log in which acknowledged rows wait for ClickHouse. Collectors append to it, and shippers consume it. It is the
 * spool of a machine (spool/), or NATS JetStream for several machines (nats/).
 *
 * A shipper consumes one table's log, in batches. A position names a batch: a segment's path in the spool, consecutive
 * messages in NATS.
 */

/** One table's log, as the worker of a collector sees it. */
export interface EventLog {
  /** Returns the `received_at` of rows that arrive now, epoch milliseconds; it never goes back. */
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

const retrySeconds = 5

/** Returns the result of `append`, or throws 503 "busy" if the log cannot store rows now. */
export async function orServiceUnavailable<T>(appending: Promise<T>): Promise<T> {
  try {
    return await appending
  } catch (error) {
    if (error instanceof LogUnavailable)
      throw busy('The collector cannot store more events now. Retry later.', retrySeconds)
    throw error
  }
}

/** The rows of a batch in the form that a shipper sends. */
export interface ConsumedRows {
  /** JSONEachRow lines. */
  payloads: Buffer[]
  rows: number
  /** Lines of records that the disk has changed. */
  damaged: string[]
  /**
   * When its first row was received, or when the batch began if the row does not contain the time; epoch
   * milliseconds.
   */
  oldestAt: number
  /** The memory that contains the lines. */
  memory: Buffer
}

/** The batches of one table's log, as its shipper sees them. */
export interface LogBatches {
  /** Whether a batch has the same rows in each try, so that ClickHouse recognizes its token. */
  readonly isFixed: boolean
  /** Returns the name of a batch for queries and dead letters. */
  nameOf(position: string): string
  /** Returns ClickHouse's deduplication token of a batch. */
  tokenOf(position: string): string
  /** Returns when a batch's first row, the earliest, was received; epoch milliseconds, 0 if unknown. */
  oldestAt(position: string): number
  /** Reads a batch into memory from `allocate`. */
  consume(position: string, allocate: (bytes: number) => Buffer): Promise<ConsumedRows>
  isCommitted(position: string): boolean
  /**
   * Records durably that ClickHouse has a batch. Resolves with the batch's new position, which is readable
   * until `forget`.
   */
  commit(position: string): Promise<string>
  /** Deletes a committed batch. */
  forget(position: string): Promise<void>
}

/** The exclusive right to insert rows of a log into ClickHouse. */
export interface ShipLease {
  /**
   * Hashes of the ids that other shippers have shipped since our last lease, two words each; null if some are
   * unknown.
   */
  readonly idsOfOthers: Uint32Array | null
  /** Whether an insert of an earlier holder may still run, because that holder did not release its lease. */
  readonly mayOtherInsertsRun: boolean
  readonly acquiredAt: number
  /** False as soon as another shipper may acquire the lease. */
  isHeld(): boolean
  /**
   * Releases the lease when no insert may run any more. Never rejects: a lease that cannot be released counts as
   * abandoned.
   */
  release(): Promise<void>
  /** Ends the lease while an insert may still be running: the next holder waits for that insert. */
  abandon(): void
}

export interface LeaseSource {
  /** Prefix of the names of all batches that other holders may be inserting. */
  readonly batchPrefix: string
  /** Waits for a lease, and publishes these ids (hashes, two words each) to the other shippers. */
  acquire(ids: Uint32Array): Promise<ShipLease>
  /** Ends the lease at once. */
  close(): void
}
