import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { PlacementChanged } from '../../platform/clickhouse/placement.ts'
import type { LeaseSource, LogPartition, ShipLease } from '../log/eventLog.ts'
import { spoolPartition } from '../spool/spoolPartition.ts'
import { BatchReader } from './batchReader.ts'
import type { Deduplicator } from './deduplicator.ts'
import { type Batch, insertBatch, queryIdOf, writeDeadLetter } from './insert.ts'
import { isBeingInserted, withoutStoredLines } from './reconcile.ts'
import { ShippedSegments } from './shippedSegments.ts'

export interface ShipperOptions {
  clickhouse: ClickHouse
  table: string
  /** The partition that it consumes; default the machine's spool. */
  partition?: LogPartition
  /** Removes events that are already stored; null for tables whose rows have no event_id. */
  duplicates: Deduplicator | null
  /** The leases, if `duplicates` provides none; default null: none are needed. */
  leases?: LeaseSource | null
  deadLetterDirectory: string
  /** How long a shipped segment is kept, in case ClickHouse loses it in a crash. */
  keepShippedMs: number
  observe: ShipObserver
}

/** Reports of a shipper, for metrics and logs. */
export interface ShipObserver {
  shipped(rows: number, ageMs: number): void
  /**
   * Reports lines that are omitted because their events are stored already. A retry of the segment reports
   * them again.
   */
  duplicates(lines: readonly Buffer[]): void
  deadLetter(reason: string): void
  retry(error: Error, batch: string): void
}

/** A batch in the queue. */
interface WaitingBatch {
  /** Its place in the log (log/eventLog.ts): in the spool, the path of a segment. */
  position: string
  /**
   * Whether it may have been inserted: its process was killed, the lease was lost, or ClickHouse crashed
   * since.
   */
  isUncertain: boolean
  /** When its first row, the earliest, was received; epoch milliseconds. */
  oldestAt: number
}

/** A batch that is ready for its insert. Retries reuse it while its lease is held. */
interface Shipment {
  /** Null for tables that need no lease. */
  lease: ShipLease | null
  batch: Batch
  /** Rows of records whose checksum is wrong. */
  damaged: string[]
  /** The memory of its lines, for BatchReader.release. */
  memory: Buffer
}

const retryMsFirst = 100
const retryMsMax = 1_000
const damagedReason = 'a record of the spool on disk, or one next to it, has changed'
/**
 * How long a lease is kept while its insert fails, because another collector may be able to reach ClickHouse.
 */
const failingLeaseMs = 10_000
/** How long an insert of an abandoned lease may take to appear in ClickHouse's list of running queries. */
const arrivingMs = 1_000

/**
 * Inserts the batches of one partition of the log into ClickHouse, oldest first, one at a time. One batch is one insert
 * of one block, or of one block for each shard; its bytes are sent unchanged. In the spool, a batch is a sealed segment.
 *
 * The protocol for each batch of events, in call order. In the spool, other tables skip the lines with
 * [e].
 *
 *   add                                     the batch is complete; #enqueue, #wake, #run
 *   └ #shipUntilDone                        repeats the following until it succeeds or the shipper stops
 *     ├ ShippedSegments.settleDoubt         after an error: has ClickHouse restarted?
 *     ├ #prepare                            once for each lease
 *     │ ├ BatchReader.read                  the batch's lines
 *     │ │ └ Deduplicator.inspectIds         [e] suspects by the filter; done ahead while the previous segment is inserted
 *     │ ├ Deduplicator.acquireLease         [e] waits for the lease; publishes our ids, learns the other collectors'
 *     │ ├ #waitForInserts                   [e] only if the previous holder did not release its lease
 *     │ ├ Deduplicator.findSuspects         [e] after the inserts of earlier leases: the final suspects
 *     │ ├ #removeStoredRows                 [e] only if isUncertain: rows that an earlier try has stored
 *     │ └ #removeDuplicates                 [e] asks ClickHouse for the suspects, and removes what it has
 *     ├ BatchReader.readAhead               begins to read the next batch
 *     ├ insertBatch                         the same bytes with the same token in each try; stops if the lease is lost
 *     ├ ShipLease.release                   [e]
 *     └ #finish                             LogPartition.commit; ShippedSegments keeps the batch for keepShippedMs
 *
 * Failures:
 * - No answer, or ClickHouse is unavailable or overloaded: it sends the same bytes with the same token again, without
 *   limit. ClickHouse stores a token once, so a first try that did arrive does no harm.
 * - ClickHouse refuses a row: it bisects the segment until it finds the row, which becomes a dead letter.
 * - The disk has changed a record: its rows become dead letters, because any of them may be wrong.
 * - This process is killed, its lease is lost, or shards change: the next try reads back which rows are stored, and
 *   sends the others. Another collector that acquires the lease first waits until no insert of ours runs.
 * - ClickHouse crashes, and may have lost confirmed rows: it keeps segments shipped in the last minutes. It compares
 *   them with ClickHouse during the shipping (shippedSegments.ts), and ships them again if rows are missing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #partition: LogPartition
  readonly #batches: BatchReader
  readonly #shipped: ShippedSegments
  readonly #waiting: WaitingBatch[] = []
  #running: Promise<void> | null = null
  readonly #stopping = new AbortController()

  constructor(options: ShipperOptions) {
    this.#options = options
    this.#partition = options.partition ?? spoolPartition
    this.#batches = new BatchReader(this.#partition, options.duplicates)
    this.#shipped = new ShippedSegments({
      clickhouse: options.clickhouse,
      partition: this.#partition,
      table: options.table,
      keepMs: options.keepShippedMs,
      lacksRows: (position) => this.#enqueue(position, true),
      retry: options.observe.retry,
      signal: this.#stopping.signal,
    })
  }

  /** Number of waiting batches, including the current one and those being verified. */
  get backlog(): number {
    return this.#waiting.length + this.#shipped.inDoubt
  }

  /** All its rows received before this time, epoch milliseconds, are in ClickHouse; Infinity: all. */
  get lowMark(): number {
    return this.#waiting.reduce(
      (least, { oldestAt }) => Math.min(least, oldestAt),
      this.#shipped.lowMark,
    )
  }

  /** Like lowMark, of committed batches only: rows that ClickHouse may have lost in a crash. */
  get doubtfulFrom(): number {
    return this.#waiting.reduce(
      (least, { position, oldestAt }) =>
        this.#partition.isCommitted(position) ? Math.min(least, oldestAt) : least,
      this.#shipped.lowMark,
    )
  }

  /**
   * Queues a batch that no process has tried to ship; ignores one that waits already. `onSealed` in main.ts calls it when
   * a worker reports a sealed segment (ops/processes/startWorkers.ts).
   */
  add(position: string): void {
    if (!this.#waiting.some((waiting) => waiting.position === position))
      this.#enqueue(position, false)
  }

  /** Queues batches of an earlier process, committed or not. */
  addUncertain(positions: readonly string[]): void {
    // Rows without an event_id in fixed batches are inserted again: ClickHouse recognizes their tokens.
    const isVerified = (position: string) =>
      this.#partition.isCommitted(position) &&
      (this.#options.duplicates !== null || !this.#partition.hasFixedBatches)
    for (const position of positions) if (!isVerified(position)) this.#enqueue(position, true)
    this.#shipped.lookFor(positions.filter(isVerified))
  }

  /** Checks whether ClickHouse has restarted: rows that were shipped before may be lost. */
  noticeRestart(): Promise<void> {
    return this.#shipped.noticeRestart()
  }

  /**
   * Call it when the disk is full: deletes shipped segments at once, now and for as long as they would be kept. New
   * events matter more than copies of events that ClickHouse might lose.
   */
  makeRoom(): void {
    this.#shipped.makeRoom()
  }

  /** Ships waiting segments for at most `timeoutMs`, then stops; the next start ships the rest. */
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
    const oldestAt = this.#partition.oldestAt(position)
    this.#waiting.push({ position, isUncertain, oldestAt })
    this.#wake()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #wake(): void {
    if (this.#isStopped || this.#waiting.length === 0) return
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      // A segment may have arrived after the loop ended.
      this.#wake()
    })
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting
      if (!next || this.#isStopped) return
      await this.#shipUntilDone(next)
      // If the shipper was stopped, ClickHouse may not have the segment, so it stays in the queue.
      if (this.#isStopped) return
      this.#waiting.shift()
    }
  }

  async #shipUntilDone(waiting: WaitingBatch): Promise<void> {
    let shipment: Shipment | null = null
    for (
      let retryMs = retryMsFirst;
      !this.#isStopped;
      retryMs = Math.min(retryMs * 2, retryMsMax)
    ) {
      try {
        await this.#shipped.settleDoubt()
        shipment ??= await this.#prepare(waiting)
        this.#batches.readAhead(this.#waiting[1]?.position)
        await insertBatch({ ...this.#options, lease: shipment.lease }, shipment.batch)
        await shipment.lease?.release()
        for (const row of shipment.damaged)
          writeDeadLetter(this.#options, shipment.batch.name, row, damagedReason)
        await this.#finish(waiting.position, shipment.batch)
        this.#batches.release(shipment.memory)
        return
      } catch (error) {
        this.#shipped.doubtServer()
        this.#options.observe.retry(error as Error, waiting.position)
        if (shipment?.lease && mustPrepareAgain(shipment.lease, error)) {
          shipment.lease.abandon()
          shipment = null
          waiting.isUncertain = true
        }
        await this.#pause(retryMs * (0.5 + Math.random()))
      }
    }
    shipment?.lease?.abandon()
  }

  /** Reads a batch, acquires the lease, and removes the rows that ClickHouse has. */
  async #prepare({ position, isUncertain }: WaitingBatch): Promise<Shipment> {
    const { duplicates } = this.#options
    const leases = duplicates ? duplicates.leases : this.#options.leases
    const { payloads, rows, damaged, ids, oldestAt, memory } = await this.#batches.read(position)
    const batch: Batch = {
      name: this.#partition.nameOf(position),
      payloads,
      token: this.#partition.tokenOf(position),
      rows,
      oldestAt,
      refused: 0,
    }
    if (!leases) return { lease: null, batch, damaged, memory }

    const lease = await (duplicates && ids
      ? duplicates.acquireLease(ids)
      : leases.acquire(new Uint32Array()))
    try {
      if (lease.mayOtherInsertsRun)
        await this.#waitForInserts(queryIdOf(leases.batchPrefix), arrivingMs)
      const suspects = duplicates && ids && (await duplicates.findSuspects(payloads, ids, lease))
      if (isUncertain) await this.#removeStoredRows(batch)
      if (duplicates && suspects) await this.#removeDuplicates(batch, duplicates, suspects)
      return { lease, batch, damaged, memory }
    } catch (error) {
      lease.abandon()
      throw error
    }
  }

  /** Removes the rows that ClickHouse has from a batch that may have been inserted. */
  async #removeStoredRows(batch: Batch): Promise<void> {
    const { clickhouse, table } = this.#options
    await this.#waitForInserts(queryIdOf(batch.name), 0)
    batch.payloads = await withoutStoredLines(clickhouse, table, batch.payloads)
    // ClickHouse may remember the token of rows that it lost, and would then ignore them.
    batch.token = `${batch.name} ${randomUUID()}`
  }

  /** Removes the rows whose event is stored already from a batch, and reports them. */
  async #removeDuplicates(
    batch: Batch,
    duplicates: Deduplicator,
    suspects: ReadonlySet<string>,
  ): Promise<void> {
    const checked = await duplicates.removeDuplicates(batch.payloads, suspects)
    batch.payloads = checked.payloads
    batch.rows -= checked.duplicates.length
    if (checked.duplicates.length > 0) this.#options.observe.duplicates(checked.duplicates)
  }

  /** Waits until no insert with this prefix runs; first for `arrivingMs`, in which one may still reach ClickHouse. */
  async #waitForInserts(queryIdPrefix: string, arrivingMs: number): Promise<void> {
    if (arrivingMs > 0) await this.#pause(arrivingMs)
    while (await isBeingInserted(this.#options.clickhouse, queryIdPrefix))
      await this.#pause(retryMsFirst)
  }

  /** Marks the batch as shipped, and keeps it for a while. */
  async #finish(position: string, batch: Batch): Promise<void> {
    const wasCommitted = this.#partition.isCommitted(position)
    const committed = await this.#partition.commit(position)
    if (!wasCommitted)
      this.#options.observe.shipped(batch.rows - batch.refused, Date.now() - batch.oldestAt)
    this.#shipped.keep(committed)
  }

  /** Waits, but returns early when the shipper stops. */
  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}

/** Whether a failed insert may not be retried with the same bytes under its lease. */
const mustPrepareAgain = (lease: ShipLease, error: unknown): boolean =>
  error instanceof PlacementChanged ||
  !lease.isHeld() ||
  Date.now() - lease.acquiredAt >= failingLeaseMs
