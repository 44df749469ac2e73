import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { BatchPreparer, type QueuedBatch, type Shipment } from './batchPreparer.ts'
import type { Deduplicator } from './deduplicator.ts'
import { failingMs, insertBatch, writeDeadLetter } from './insert.ts'
import { type LogBatches, spoolBatches } from './logBatches.ts'
import type { LeaseSource, ShipLease } from './shipLeases.ts'
import { ShippedBatches, type VerifiedStarts } from './shippedBatches.ts'

export interface ShipperOptions {
  clickhouse: ClickHouse
  table: string
  /** The batches that it consumes; default the machine's spool. */
  batches?: LogBatches
  /** Removes events that are already stored; null for tables whose rows have no event_id. */
  duplicates: Deduplicator | null
  /** The leases, if `duplicates` provides none; default null: none are needed. */
  leases?: LeaseSource | null
  deadLetterDirectory: string
  /** How long a shipped batch is kept, in case ClickHouse loses it in a crash. */
  keepShippedMs: number
  /** Remembers which servers have the committed batches; default: these are verified at each start. */
  verified?: VerifiedStarts
  observe: ShipObserver
}

export interface ShipObserver {
  shipped(rows: number, ageMs: number): void
  /** Reports lines whose events are stored already. A retry of the batch reports them again. */
  duplicates(lines: readonly Buffer[]): void
  deadLetter(reason: string): void
  retry(error: Error, batch: string): void
}

const retryMsFirst = 100
const retryMsMax = 1_000
const damagedReason = 'a record of the spool on disk, or one next to it, has changed'

/**
 * Inserts the batches of one table’s log into ClickHouse, oldest first, one at a time. One batch is one insert
 * of one block, or of one block for each shard; its bytes are sent unchanged. In the spool, a batch is a sealed segment.
 *
 * The protocol for each batch of events, in call order. In the spool, other tables skip the lines with
 * [e].
 *
 *   add                                     the batch is complete; #enqueue, #wake, #run
 *   └ #shipUntilDone                        repeats the following until it succeeds or the shipper stops
 *     ├ ShippedBatches.checkDoubtfulShards after an error: has ClickHouse restarted?
 *     ├ BatchPreparer.prepare               once for each lease
 *     │ ├ BatchReader.read                  the batch's lines
 *     │ │ └ Deduplicator.inspectIds         [e] suspects by the filter; done ahead while the previous batch is inserted
 *     │ ├ BatchIds.acquireLease             [e] waits for the lease; publishes our ids, learns the other collectors'
 *     │ ├ #waitForInserts                   [e] only if an insert of an earlier lease may still run
 *     │ ├ LeasedBatch.findSuspects          [e] after the inserts of earlier leases: the final suspects
 *     │ ├ #removeStored                     [e] only if isUncertain: removes rows that an earlier try has stored
 *     │ └ Suspects.removeFrom               [e] asks ClickHouse for the suspects, and removes what it has
 *     ├ BatchPreparer.readAhead             begins to read the next batch
 *     ├ insertBatch                         the same bytes with the same token in each try; stops if the lease is lost
 *     ├ ShipLease.release                   [e]
 *     └ #finish                             LogBatches.commit; ShippedBatches keeps the batch for keepShippedMs
 *
 * Failures:
 * - No answer, or ClickHouse is unavailable or overloaded: it sends the same bytes with the same token again, without
 *   limit. ClickHouse stores a token once, so a first try that did arrive does no harm.
 * - ClickHouse refuses a row: it bisects the batch until it finds the row, which becomes a dead letter.
 * - The disk has changed a record: its rows become dead letters, because any of them may be wrong.
 * - This process is killed, or its lease is lost: the next try reads back which rows are stored, and sends the others.
 *   Another collector that acquires the lease first waits until no insert of ours runs.
 * - One of several shards is unavailable: all batches wait in the log, as for a single server.
 * - ClickHouse crashes, and may have lost confirmed rows: it keeps batches shipped in the last minutes. It compares
 *   them with ClickHouse during the shipping (shippedBatches.ts), and ships them again if rows are missing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #batches: LogBatches
  readonly #shipped: ShippedBatches
  readonly #preparer: BatchPreparer
  readonly #queue: QueuedBatch[] = []
  #running: Promise<void> | null = null
  readonly #stopping = new AbortController()

  constructor(options: ShipperOptions) {
    this.#options = options
    const { clickhouse, table, duplicates, observe } = options
    this.#batches = options.batches ?? spoolBatches
    this.#preparer = new BatchPreparer({
      clickhouse,
      table,
      batches: this.#batches,
      duplicates,
      leases: duplicates ? duplicates.leases : (options.leases ?? null),
      onDuplicates: (lines) => observe.duplicates(lines),
      pause: (ms) => this.#pause(ms),
    })
    this.#shipped = new ShippedBatches({
      clickhouse,
      batches: this.#batches,
      table,
      keepMs: options.keepShippedMs,
      verifiedStarts: options.verified?.before ?? null,
      lacksRows: (position) => this.#enqueue(position, true),
      retry: observe.retry,
      signal: this.#stopping.signal,
    })
  }

  /** Number of batches that are not in ClickHouse, including the current one and those being verified. */
  get backlog(): number {
    return this.queued + this.#shipped.toVerify
  }

  /** Number of batches to insert, including the current one. */
  get queued(): number {
    return this.#queue.length
  }

  /** When the first row that is not certainly in ClickHouse was received, epoch milliseconds; Infinity: all are. */
  get lowMark(): number {
    return earliestOf([...this.#queue, ...this.#shipped.doubtful])
  }

  /**
   * The earliest time of receipt of rows in committed batches that ClickHouse may have lost in a crash, epoch
   * milliseconds; Infinity: none.
   */
  get doubtfulFrom(): number {
    const reshipping = this.#queue.filter(({ position }) => this.#batches.isCommitted(position))
    return earliestOf([...reshipping, ...this.#shipped.doubtful])
  }

  /** Whether it is known which batches of an earlier process ClickHouse may have lost. */
  get knowsDoubtful(): boolean {
    return this.#shipped.knowsDoubtful
  }

  /**
   * When the first shipped row that may be shipped again was received, epoch milliseconds; Infinity: none. A server that
   * does not answer may have lost rows in a crash.
   */
  get repeatsFrom(): number {
    return Math.min(this.doubtfulFrom, this.#shipped.repeatsFrom)
  }

  /**
   * Queues a batch that no process has tried to ship; ignores one that waits already. `onSealed` in main.ts calls it when
   * a worker reports a sealed segment (ops/processes/startWorkers.ts).
   */
  add(position: string): void {
    const isKnown = this.#queue.some((queued) => queued.position === position)
    if (!isKnown) this.#enqueue(position, false)
  }

  /** Queues batches of an earlier process, committed or not. */
  addUncertain(positions: readonly string[]): void {
    // Rows without an event_id in fixed batches are inserted again: ClickHouse recognizes their tokens.
    const isVerified = (position: string) =>
      this.#batches.isCommitted(position) &&
      (this.#options.duplicates !== null || !this.#batches.isFixed)
    for (const position of positions) if (!isVerified(position)) this.#enqueue(position, true)
    this.#shipped.inherit(positions.filter(isVerified))
  }

  /** Checks whether ClickHouse has restarted: rows that were shipped before may be lost. */
  async noticeRestart(): Promise<void> {
    await this.#shipped.noticeRestart()
    const starts = this.doubtfulFrom === Infinity ? this.#shipped.verifiedStarts : null
    if (starts) this.#options.verified?.note(starts)
  }

  /**
   * Call it when the disk is full: deletes shipped batches at once, now and for as long as they would be kept. New
   * events matter more than copies of events that ClickHouse might lose.
   */
  makeRoom(): void {
    this.#shipped.makeRoom()
  }

  /** Ships waiting batches for at most `timeoutMs`, then stops; the next start ships the rest. */
  async stop(timeoutMs: number): Promise<void> {
    const timeout = setTimeout(() => {
      this.#stopping.abort()
      this.#options.duplicates?.close()
    }, timeoutMs)
    await this.#running
    this.#stopping.abort()
    clearTimeout(timeout)
    this.#options.duplicates?.close()
    await this.#shipped.stop()
  }

  #enqueue(position: string, isUncertain: boolean): void {
    const oldestAt = this.#batches.oldestAt(position)
    this.#queue.push({ position, isUncertain, oldestAt })
    this.#wake()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #wake(): void {
    if (this.#isStopped || this.#running || this.#queue.length === 0) return
    this.#running = this.#run().finally(() => {
      this.#running = null
      // A batch may have arrived after the loop ended.
      this.#wake()
    })
  }

  async #run(): Promise<void> {
    for (let next = this.#queue[0]; next && !this.#isStopped; next = this.#queue[0]) {
      await this.#shipUntilDone(next)
      // If the shipper was stopped, ClickHouse may not have the batch, so it stays in the queue.
      if (!this.#isStopped) this.#queue.shift()
    }
  }

  async #shipUntilDone(queued: QueuedBatch): Promise<void> {
    let shipment: Shipment | null = null
    for (
      let retryMs = retryMsFirst;
      !this.#isStopped;
      retryMs = Math.min(retryMs * 2, retryMsMax)
    ) {
      try {
        await this.#shipped.checkDoubtfulShards()
        shipment ??= await this.#preparer.prepare(queued)
        this.#preparer.readAhead(this.#queue[1]?.position)
        await this.#insert(shipment)
        await this.#finish(queued.position, shipment)
        return
      } catch (error) {
        this.#shipped.doubtShards()
        this.#options.observe.retry(error as Error, queued.position)
        if (shipment?.lease && mustPrepareAgain(shipment.lease)) {
          shipment.lease.abandon()
          shipment = null
          queued.isUncertain = true
        }
        await this.#pause(retryMs * (0.5 + Math.random()))
      }
    }
    shipment?.lease?.abandon()
  }

  async #insert({ lease, batch, damaged }: Shipment): Promise<void> {
    const { clickhouse, table, deadLetterDirectory, observe } = this.#options
    await insertBatch({ clickhouse, table, deadLetterDirectory, observe, lease }, batch)
    await lease?.release()
    for (const row of damaged) writeDeadLetter(this.#options, batch.name, row, damagedReason)
  }

  async #finish(position: string, shipment: Shipment): Promise<void> {
    const { rows, refused, oldestAt } = shipment.batch
    const wasCommitted = this.#batches.isCommitted(position)
    this.#shipped.keep(await this.#batches.commit(position), oldestAt)
    if (!wasCommitted) this.#options.observe.shipped(rows - refused, Date.now() - oldestAt)
    this.#preparer.release(shipment)
  }

  /** Waits, but returns early when the shipper stops. */
  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}

/** Whether a failed insert may not be retried with the same bytes under its lease. */
const mustPrepareAgain = (lease: ShipLease): boolean =>
  !lease.isHeld() || Date.now() - lease.acquiredAt >= failingMs

const earliestOf = (batches: readonly { readonly oldestAt: number }[]): number =>
  batches.reduce((least, { oldestAt }) => Math.min(least, oldestAt), Infinity)
