import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { PlacementChanged } from '../../platform/clickhouse/placement.ts'
import { ShardWatch } from '../../platform/clickhouse/shardWatch.ts'
import type { LeaseSource, LogPartition, ShipLease } from '../log/eventLog.ts'
import { spoolPartition } from '../spool/spoolPartition.ts'
import { BatchPreparer, type QueuedBatch, type Shipment } from './batchPreparer.ts'
import { BatchReader } from './batchReader.ts'
import type { Deduplicator } from './deduplicator.ts'
import { failingMs, insertBatch, writeDeadLetter } from './insert.ts'
import { type LowMarks, lowMarksOf } from './shardMarks.ts'
import { ShippedSegments } from './shippedSegments.ts'
import { type WaitingBatch, WaitingBatches } from './waitingBatches.ts'
import { lineSetOf } from './waitingLines.ts'

export interface ShipperOptions {
  clickhouse: ClickHouse
  table: string
  /** The partition that it consumes; default the machine's spool. */
  partition?: LogPartition
  /** Removes events that are already stored; null for tables whose rows have no event_id. */
  duplicates: Deduplicator | null
  /** The leases, if `duplicates` provides none; default null: none are needed. */
  leases?: LeaseSource | null
  /** Knows which shards answer; default one of its own. */
  watch?: ShardWatch
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

const retryMsFirst = 100
const retryMsMax = 1_000
const damagedReason = 'a record of the spool on disk, or one next to it, has changed'
/** How often the shipper looks for batches whose shard is available again. */
const waitingPollMs = 200

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
 *     ├ BatchPreparer.prepare               once for each lease
 *     │ ├ BatchReader.read                  the batch's lines
 *     │ │ └ Deduplicator.inspectIds         [e] suspects by the filter; done ahead while the previous segment is inserted
 *     │ ├ Deduplicator.acquireLease         [e] waits for the lease; publishes our ids, learns the other collectors'
 *     │ ├ #settle                           [e] only if an insert of an earlier lease may still run
 *     │ ├ #splitOff                         [e] only if a shard is unavailable: sets its lines aside
 *     │ ├ Deduplicator.findSuspects         [e] after the inserts of earlier leases: the final suspects
 *     │ ├ #notStored                        [e] only if isUncertain: removes rows that an earlier try has stored
 *     │ └ Deduplicator.removeDuplicates     [e] asks ClickHouse for the suspects, and removes what it has
 *     ├ BatchReader.readAhead               begins to read the next batch
 *     ├ insertBatch                         the same bytes with the same token in each try; stops if the lease is lost
 *     ├ ShipLease.release                   [e]
 *     └ #finish                             LogPartition.commit; ShippedSegments keeps the batch for keepShippedMs;
 *                                           or WaitingBatches keeps what is left for an unavailable shard
 *
 * Failures:
 * - No answer, or ClickHouse is unavailable or overloaded: it sends the same bytes with the same token again, without
 *   limit. ClickHouse stores a token once, so a first try that did arrive does no harm.
 * - ClickHouse refuses a row: it bisects the segment until it finds the row, which becomes a dead letter.
 * - The disk has changed a record: its rows become dead letters, because any of them may be wrong.
 * - This process is killed, its lease is lost, or shards change: the next try reads back which rows are stored, and
 *   sends the others. Another collector that acquires the lease first waits until no insert of ours runs.
 * - A shard is unavailable: its lines wait in the log, and the others are inserted (waitingBatches.ts). The batch is
 *   committed when the last line is stored. Then all ids are looked up again, because other batches were first.
 * - ClickHouse crashes, and may have lost confirmed rows: it keeps segments shipped in the last minutes. It compares
 *   them with ClickHouse during the shipping (shippedSegments.ts), and ships them again if rows are missing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #partition: LogPartition
  readonly #batches: BatchReader
  readonly #shipped: ShippedSegments
  readonly #preparer: BatchPreparer
  readonly #watch: ShardWatch
  readonly #queue: QueuedBatch[] = []
  readonly #waiting: WaitingBatches
  #running: Promise<void> | null = null
  readonly #stopping = new AbortController()

  constructor(options: ShipperOptions) {
    this.#options = options
    const { clickhouse, table, duplicates, observe } = options
    this.#partition = options.partition ?? spoolPartition
    this.#batches = new BatchReader(this.#partition, duplicates)
    this.#watch = options.watch ?? new ShardWatch(shardsWith(table, clickhouse))
    this.#waiting = new WaitingBatches(this.#watch)
    this.#preparer = new BatchPreparer({
      clickhouse,
      table,
      partition: this.#partition,
      batches: this.#batches,
      duplicates,
      leases: duplicates ? duplicates.leases : (options.leases ?? null),
      watch: this.#watch,
      onDuplicates: (lines) => observe.duplicates(lines),
      pause: (ms) => this.#pause(ms),
    })
    this.#shipped = new ShippedSegments({
      clickhouse,
      watch: this.#watch,
      partition: this.#partition,
      table,
      keepMs: options.keepShippedMs,
      lacksRows: (position) => this.#enqueue(position, true),
      retry: observe.retry,
      signal: this.#stopping.signal,
    })
  }

  /** Number of batches that are not in ClickHouse, including the current one and those being verified. */
  get backlog(): number {
    return this.queued + this.#waiting.size + this.#shipped.doubtful.length
  }

  /** Number of batches that no shard delays, including the current one. */
  get queued(): number {
    return this.#queue.length
  }

  /** Returns until when its rows are in ClickHouse. `version` is the current version of the placement. */
  lowMarks(version: number | null): LowMarks {
    return lowMarksOf(
      this.#queue.map(({ oldestAt }) => oldestAt),
      [...this.#waiting.values(), ...this.#shipped.doubtful],
      version,
    )
  }

  /** The batches with rows that wait for unavailable shards. */
  get waiting(): readonly WaitingBatch[] {
    return [...this.#waiting.values()]
  }

  /**
   * The earliest time of receipt of rows in committed batches that ClickHouse may have lost in a crash, epoch
   * milliseconds; Infinity: none.
   */
  get doubtfulFrom(): number {
    const waiting = [...this.#waiting.values()].filter((batch) => this.#isCommitted(batch))
    return [...this.#reshipping, ...waiting, ...this.#shipped.doubtful].reduce(
      (least, { oldestAt }) => Math.min(least, oldestAt),
      Infinity,
    )
  }

  /**
   * Returns the marks without the batches that it ships for the first time: of rows that wait for shards, or that
   * ClickHouse may have lost.
   */
  missingMarks(version: number | null): LowMarks {
    return lowMarksOf(
      this.#reshipping.map(({ oldestAt }) => oldestAt),
      [...this.#waiting.values(), ...this.#shipped.doubtful],
      version,
    )
  }

  /** Committed batches that it ships again. */
  get #reshipping(): QueuedBatch[] {
    return this.#queue.filter((batch) => this.#isCommitted(batch))
  }

  #isCommitted({ position }: { position: string }): boolean {
    return this.#partition.isCommitted(position)
  }

  /**
   * When the first shipped row that may be shipped again was received, epoch milliseconds; Infinity: none. A shard that
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
    const isKnown =
      this.#waiting.has(position) || this.#queue.some((queued) => queued.position === position)
    if (!isKnown) this.#enqueue(position, false)
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
    if (!this.#options.watch) this.#watch.close()
  }

  #enqueue(position: string, isUncertain: boolean): void {
    const oldestAt = this.#partition.oldestAt(position)
    this.#queue.push({ position, isUncertain, oldestAt })
    this.#wake()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #wake(): void {
    if (this.#isStopped || this.#running) return
    if (this.#queue.length > 0 || this.#waiting.next())
      this.#running = this.#run().finally(() => {
        this.#running = null
        // A segment may have arrived after the loop ended.
        this.#wake()
      })
    else if (this.#waiting.size > 0) setTimeout(() => this.#wake(), waitingPollMs).unref()
  }

  /** Ships batches in their order, and alternately those that waited for a shard that is available again. */
  async #run(): Promise<void> {
    for (let wasLate = false; !this.#isStopped; ) {
      const late: WaitingBatch | undefined =
        wasLate && this.#queue.length > 0 ? undefined : this.#waiting.next()
      const next = late ? { ...late, isUncertain: true } : this.#queue[0]
      if (!next) return
      wasLate = late !== undefined
      await this.#shipUntilDone(next)
      // If the shipper was stopped, ClickHouse may not have the segment, so it stays in the queue.
      if (!late && !this.#isStopped) this.#queue.shift()
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
        await this.#shipped.settleDoubt()
        shipment ??= await this.#preparer.prepare(queued)
        this.#batches.readAhead(this.#queue[queued === this.#queue[0] ? 1 : 0]?.position)
        await this.#insert(shipment)
        await this.#finish(queued.position, shipment)
        return
      } catch (error) {
        this.#shipped.doubtServers()
        this.#options.observe.retry(error as Error, queued.position)
        if (shipment?.lease && mustPrepareAgain(shipment.lease, error)) {
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
    const isSharded = clickhouse.placement !== null && table === 'events'
    await insertBatch(
      {
        clickhouse,
        table,
        deadLetterDirectory,
        observe,
        lease,
        ...(isSharded && { watch: this.#watch }),
      },
      batch,
    )
    await lease?.release([...batch.waiting.unsettled])
    for (const row of damaged) writeDeadLetter(this.#options, batch.name, row, damagedReason)
  }

  /** Marks the batch as shipped, and keeps it for a while; or keeps the lines that wait for a shard. */
  async #finish(position: string, { batch, lines, memory }: Shipment): Promise<void> {
    const { observe } = this.#options
    const { waiting, oldestAt } = batch
    const wasCommitted = this.#partition.isCommitted(position)
    const rest = lineSetOf(lines, waiting.lists)
    if (rest.size > 0) {
      this.#partition.park(position)
      const version = batch.version === undefined ? batch.split?.version : batch.version
      this.#waiting.set({ position, oldestAt, rest, shards: waiting.shards, version })
      this.#shipped.doubtServers(waiting.shards)
    } else {
      const committed = await this.#partition.commit(position)
      this.#waiting.delete(position)
      this.#shipped.keep(committed, oldestAt)
    }
    const rows = batch.rows - batch.refused - rest.size
    if (!wasCommitted && (rows > 0 || rest.size === 0)) observe.shipped(rows, Date.now() - oldestAt)
    // An insert that was given up may still refer to the memory.
    if (memory && waiting.unsettled.size === 0) this.#batches.release(memory)
  }

  /** Waits, but returns early when the shipper stops. */
  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}

/** The shards that have rows of a table. */
const shardsWith = (table: string, { shards }: ClickHouse): readonly ClickHouse[] =>
  table === 'events' ? shards : shards.slice(0, 1)

/** Whether a failed insert may not be retried with the same bytes under its lease. */
const mustPrepareAgain = (lease: ShipLease, error: unknown): boolean =>
  error instanceof PlacementChanged || !lease.isHeld() || Date.now() - lease.acquiredAt >= failingMs
