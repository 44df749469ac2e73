import { randomUUID } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { inState, receivedFrom, syncDirectory } from '../spool/recover.ts'
import type { Deduplicator } from './deduplicator.ts'
import { type Batch, bury, insertBatch, queryIdOf } from './insert.ts'
import { isBeingInserted, spoolIdOf, withoutStoredLines } from './reconcile.ts'
import { SegmentReader } from './segmentReader.ts'
import { ShippedSegments } from './shippedSegments.ts'
import type { Turn } from './turns.ts'

export interface ShipperOptions {
  clickhouse: ClickHouse
  table: string
  /** Takes events out that are stored already; null for tables whose rows have no event_id. */
  duplicates: Deduplicator | null
  deadLetterDirectory: string
  /** How long a shipped segment is kept, in case ClickHouse loses it in a crash. */
  keepShippedMs: number
  observe: ShipObserver
}

/** What a shipper tells whoever watches it. */
export interface ShipObserver {
  shipped(rows: number, ageMs: number): void
  /** These lines are left out, as their events are stored already; told again when a segment is tried again. */
  duplicates(lines: readonly Buffer[]): void
  deadLetter(reason: string): void
  retry(error: Error, segment: string): void
}

interface Waiting {
  path: string
  /** Nobody knows whether it was inserted: its process was killed meanwhile, or ClickHouse crashed since. */
  isUncertain: boolean
  /** No row in it was received before, epoch milliseconds. */
  receivedFrom: number
}

/** A batch and the turn in which it is inserted. */
interface Shipment {
  /** Null where collectors need not take turns. */
  turn: Turn | null
  batch: Batch
  /** Rows that cannot be trusted. */
  damaged: string[]
  /** Of its segment (SegmentReader). */
  memory: Buffer
}

const retryMsFirst = 100
const retryMsMax = 1_000
const damagedReason = 'the disk has changed its record of the spool, or one of its neighbours there'
/** How long a turn is kept that ships nothing: another collector may reach ClickHouse. */
const failingTurnMs = 10_000
/** How long what a collector sent in a turn that it never ended may take until ClickHouse knows of it. */
const arrivingMs = 1_000

/**
 * Brings sealed segments to ClickHouse, oldest first, one at a time; one segment is one insert of one block, and
 * its bytes go as they are. What can go wrong and what is done:
 * - no answer, or ClickHouse is away or overloaded: the same bytes with the same token again, for ever. ClickHouse
 *   stores a token once, so it does no harm when the first try did arrive.
 * - ClickHouse refuses a row: the segment is halved until the row is found, which becomes a dead letter.
 * - the disk has changed a record: its rows become dead letters, for nobody knows which of them is not what it was.
 * - this process is killed, or its turn lost: the next try reads back what of the segment is there and sends the rest;
 *   another collector whose turn comes before waits until nothing of ours is on its way.
 * - ClickHouse crashes: it may have lost what it had confirmed; segments shipped in the last minutes are kept, read
 *   back beside the shipping (shippedSegments.ts), and sent again where rows of them are missing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #segments: SegmentReader
  readonly #shipped: ShippedSegments
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | null = null
  readonly #stopping = new AbortController()

  constructor(options: ShipperOptions) {
    this.#options = options
    this.#segments = new SegmentReader(options.duplicates)
    this.#shipped = new ShippedSegments({
      clickhouse: options.clickhouse,
      keepMs: options.keepShippedMs,
      lacksRows: (path) => this.#take(path, true),
      retry: options.observe.retry,
      signal: this.#stopping.signal,
    })
  }

  /** Segments that wait, the one under way included, and those that are looked for. */
  get backlog(): number {
    return this.#waiting.length + this.#shipped.inDoubt
  }

  /** Whatever it was given that was received before, epoch milliseconds, is in ClickHouse; Infinity when all is. */
  get lowMark(): number {
    return this.#waiting.reduce(
      (least, { receivedFrom }) => Math.min(least, receivedFrom),
      this.#shipped.lowMark,
    )
  }

  /** Takes on a sealed segment that nobody has tried to ship; one that waits already is not taken twice. */
  add(path: string): void {
    if (!this.#waiting.some((waiting) => waiting.path === path)) this.#take(path, false)
  }

  /** Takes on segments that an earlier process left, sealed or shipped. */
  addUncertain(paths: readonly string[]): void {
    // Rows without an event_id are not looked for: ClickHouse knows their segments by their tokens.
    const isToBeFound = (path: string) =>
      path.endsWith('.done') && this.#options.duplicates !== null
    for (const path of paths) if (!isToBeFound(path)) this.#take(path, true)
    this.#shipped.lookFor(paths.filter(isToBeFound))
  }

  /** Sees whether ClickHouse was started again: what was shipped before may be lost. */
  noticeRestart(): Promise<void> {
    return this.#shipped.noticeRestart()
  }

  /**
   * The disk is full: shipped segments go at once, now and for as long as they would be kept. Events that can still be
   * taken count for more than those that ClickHouse might lose.
   */
  makeRoom(): void {
    this.#shipped.makeRoom()
  }

  /** Ships what waits for at most `timeoutMs`, then stops; the rest is shipped after the next start. */
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

  #take(path: string, isUncertain: boolean): void {
    this.#waiting.push({ path, isUncertain, receivedFrom: receivedFrom(path) })
    this.#wake()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #wake(): void {
    if (this.#isStopped || this.#waiting.length === 0) return
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      // What came while the last one was finishing.
      this.#wake()
    })
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting
      if (!next || this.#isStopped) return
      await this.#shipUntilDone(next)
      // It may have been stopped before ClickHouse had the segment.
      if (this.#isStopped) return
      this.#waiting.shift()
    }
  }

  async #shipUntilDone(waiting: Waiting): Promise<void> {
    let shipment: Shipment | null = null
    for (
      let retryMs = retryMsFirst;
      !this.#isStopped;
      retryMs = Math.min(retryMs * 2, retryMsMax)
    ) {
      try {
        await this.#shipped.settleDoubt()
        shipment ??= await this.#prepare(waiting)
        this.#segments.readAhead(this.#waiting[1]?.path)
        await insertBatch({ ...this.#options, turn: shipment.turn }, shipment.batch)
        await shipment.turn?.end()
        for (const row of shipment.damaged)
          bury(this.#options, shipment.batch.name, row, damagedReason)
        await this.#finish(waiting.path, shipment.batch)
        this.#segments.release(shipment.memory)
        return
      } catch (error) {
        this.#shipped.doubtServer()
        this.#options.observe.retry(error as Error, waiting.path)
        if (shipment?.turn && !mayGoOn(shipment.turn)) {
          shipment.turn.giveUp()
          shipment = null
          waiting.isUncertain = true
        }
        await this.#pause(retryMs * (0.5 + Math.random()))
      }
    }
    shipment?.turn?.giveUp()
  }

  /** Waits for our turn, and decides what of a segment is to be inserted. */
  async #prepare(waiting: Waiting): Promise<Shipment> {
    const { duplicates } = this.#options
    const name = basename(waiting.path)
    const { payloads, rows, damaged, look, oldestAt, memory } = await this.#segments.read(
      waiting.path,
    )
    // Whatever state its file is in: what was shipped before a restart is not inserted again.
    const token = basename(inState(waiting.path, 'seg'))
    const batch: Batch = { name, payloads, token, rows, oldestAt, refused: new Set() }
    if (!duplicates || !look) return { turn: null, batch, damaged, memory }

    const turn = await duplicates.begin(look)
    try {
      if (turn.isUnsettled) await this.#settle(queryIdOf(''), arrivingMs)
      const suspects = await duplicates.suspectsIn(payloads, look, turn)
      if (waiting.isUncertain) await this.#takeOutStored(batch)
      await this.#takeOutDuplicates(batch, duplicates, suspects)
      return { turn, batch, damaged, memory }
    } catch (error) {
      turn.giveUp()
      throw error
    }
  }

  /** Of a batch that ClickHouse may have: what it has of it. */
  async #takeOutStored(batch: Batch): Promise<void> {
    const { clickhouse } = this.#options
    await this.#settle(queryIdOf(batch.name), 0)
    batch.payloads = await withoutStoredLines(clickhouse, spoolIdOf(batch.name), batch.payloads)
    // ClickHouse may remember the token of rows that it lost.
    batch.token = `${batch.name} ${randomUUID()}`
  }

  async #takeOutDuplicates(
    batch: Batch,
    duplicates: Deduplicator,
    suspects: ReadonlySet<string>,
  ): Promise<void> {
    const checked = await duplicates.takeOut(batch.payloads, suspects)
    batch.payloads = checked.payloads
    batch.rows -= checked.duplicates.length
    if (checked.duplicates.length > 0) this.#options.observe.duplicates(checked.duplicates)
  }

  /** Waits until no insert of such an id is under way, and none can be that ClickHouse does not know of yet. */
  async #settle(queryIdPrefix: string, arrivingMs: number): Promise<void> {
    if (arrivingMs > 0) await this.#pause(arrivingMs)
    while (await isBeingInserted(this.#options.clickhouse, queryIdPrefix))
      await this.#pause(retryMsFirst)
  }

  /** Records that ClickHouse has the segment, and keeps the file for a while. */
  async #finish(path: string, batch: Batch): Promise<void> {
    const done = inState(path, 'done')
    await rename(path, done)
    syncDirectory(dirname(path))
    if (!path.endsWith('.done')) {
      this.#options.observe.shipped(batch.rows - batch.refused.size, Date.now() - batch.oldestAt)
    }
    this.#shipped.keep(done)
  }

  /** Ends early when we stop. */
  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}

/** Whether a turn in which an insert failed may be used for another try of the same bytes. */
const mayGoOn = (turn: Turn): boolean => turn.isHeld() && Date.now() - turn.begunAt < failingTurnMs
