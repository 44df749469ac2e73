import { randomUUID } from 'node:crypto'
import { rename, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { inState, receivedFrom, syncDirectory } from '../spool/recover.ts'
import type { Deduplicator } from './deduplicator.ts'
import { type Batch, insertBatch, queryIdOf } from './insert.ts'
import { isBeingInserted, withoutStoredLines } from './reconcile.ts'
import { SegmentReader } from './segmentReader.ts'
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
}

const retryMsFirst = 100
const retryMsMax = 1_000
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
 * - this process is killed, or its turn lost: the next try reads back what of the segment is there and sends the rest;
 *   another collector whose turn comes before waits until nothing of ours is on its way.
 * - ClickHouse crashes: it may have lost what it had confirmed; segments shipped in the last minutes are kept, read
 *   back and sent again where they are missing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #segments: SegmentReader
  readonly #fresh: Waiting[] = []
  /** Looked at when nothing fresh waits. */
  readonly #uncertain: Waiting[] = []
  readonly #shipped = new Map<string, NodeJS.Timeout>()
  #running: Promise<void> | null = null
  #cancelPause: (() => void) | null = null
  #isStopped = false
  /** Of each shard. */
  #startedAt: readonly number[] | null = null
  #serverIsInDoubt = true
  #needsRoomUntil = 0

  constructor(options: ShipperOptions) {
    this.#options = options
    this.#segments = new SegmentReader(options.duplicates)
  }

  /** Segments that wait, the one under way included. */
  get backlog(): number {
    return this.#fresh.length + this.#uncertain.length
  }

  /** Whatever it was given that was received before, epoch milliseconds, is in ClickHouse; Infinity when all is. */
  get lowMark(): number {
    const waiting = [...this.#fresh, ...this.#uncertain]
    return waiting.reduce((least, { receivedFrom }) => Math.min(least, receivedFrom), Infinity)
  }

  /** Takes on a sealed segment that nobody has tried to ship. */
  add(path: string): void {
    if (this.#isWaiting(path)) return
    this.#fresh.push({ path, isUncertain: false, receivedFrom: receivedFrom(path) })
    this.#wake()
  }

  /** Takes on segments that an earlier process left, sealed or shipped. */
  addUncertain(paths: readonly string[]): void {
    for (const path of paths) {
      const waiting = { path, isUncertain: true, receivedFrom: receivedFrom(path) }
      // It must not be removed while it waits.
      clearTimeout(this.#shipped.get(path))
      this.#shipped.delete(path)
      // One that was shipped is probably there: it waits until all others are.
      if (path.endsWith('.done')) this.#uncertain.push(waiting)
      else this.#fresh.push(waiting)
    }
    this.#wake()
  }

  /**
   * The disk is full: shipped segments go at once, now and for as long as they would be kept. Events that can still be
   * taken count for more than those that ClickHouse might lose.
   */
  makeRoom(): void {
    this.#needsRoomUntil = Date.now() + this.#options.keepShippedMs
    for (const [path, timer] of this.#shipped) {
      clearTimeout(timer)
      this.#remove(path)
    }
  }

  /** Ships what waits for at most `timeoutMs`, then stops; the rest is shipped after the next start. */
  async stop(timeoutMs: number): Promise<void> {
    const timeout = setTimeout(() => {
      this.#isStopped = true
      this.#cancelPause?.()
      this.#options.duplicates?.close()
    }, timeoutMs)
    await this.#running
    this.#isStopped = true
    clearTimeout(timeout)
    this.#options.duplicates?.close()
    for (const timer of this.#shipped.values()) clearTimeout(timer)
  }

  /** A worker told of it, and then died: its directory is searched, too. */
  #isWaiting(path: string): boolean {
    return [...this.#fresh, ...this.#uncertain].some((waiting) => waiting.path === path)
  }

  #wake(): void {
    if (this.#isStopped || this.backlog === 0) return
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      // What came while the last one was finishing.
      this.#wake()
    })
  }

  async #run(): Promise<void> {
    for (;;) {
      const queue = this.#fresh.length > 0 ? this.#fresh : this.#uncertain
      const next = queue[0]
      if (!next || this.#isStopped) return
      await this.#shipUntilDone(next)
      queue.splice(queue.indexOf(next), 1)
    }
  }

  async #shipUntilDone(waiting: Waiting): Promise<void> {
    let shipment: Shipment | null = null
    for (let retryMs = retryMsFirst; !this.#isStopped; retryMs = Math.min(retryMs * 2, retryMsMax)) {
      try {
        if (this.#serverIsInDoubt) await this.noticeRestart()
        shipment ??= await this.#prepare(waiting)
        this.#segments.readAhead(this.#fresh.find(({ path }) => path !== waiting.path)?.path)
        await insertBatch({ ...this.#options, turn: shipment.turn }, shipment.batch)
        await shipment.turn?.end()
        return await this.#finish(waiting.path, shipment.batch)
      } catch (error) {
        // Whatever comes next may be another server: what was shipped last must be looked for in it.
        this.#serverIsInDoubt = true
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
    const { payloads, rows, look, oldestAt } = await this.#segments.read(waiting.path)
    // Whatever state its file is in: what was shipped before a restart is not inserted again.
    const token = basename(inState(waiting.path, 'seg'))
    const batch: Batch = { name, payloads, token, rows, oldestAt, refused: new Set() }
    if (!duplicates || !look) return { turn: null, batch }

    const { turn, suspects } = await duplicates.begin(payloads, look)
    try {
      if (turn.isUnsettled) await this.#settle(queryIdOf(''), arrivingMs)
      if (waiting.isUncertain) await this.#takeOutStored(batch)
      await this.#takeOutDuplicates(batch, duplicates, suspects)
      return { turn, batch }
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
    while (await isBeingInserted(this.#options.clickhouse, queryIdPrefix)) await this.#pause(retryMsFirst)
  }

  /** Records that ClickHouse has the segment, and keeps the file for a while. */
  async #finish(path: string, batch: Batch): Promise<void> {
    const done = inState(path, 'done')
    await rename(path, done)
    syncDirectory(dirname(path))
    if (!path.endsWith('.done')) {
      this.#options.observe.shipped(batch.rows - batch.refused.size, Date.now() - batch.oldestAt)
    }
    clearTimeout(this.#shipped.get(done))
    if (Date.now() < this.#needsRoomUntil) return this.#remove(done)
    const timer = setTimeout(() => this.#remove(done), this.#options.keepShippedMs)
    timer.unref()
    this.#shipped.set(done, timer)
  }

  #remove(path: string): void {
    this.#shipped.delete(path)
    unlink(path).catch(() => {})
  }

  /** Are they still the servers that confirmed the last segments? If not, they are looked for. */
  async noticeRestart(): Promise<void> {
    const startedAt = await Promise.all(this.#options.clickhouse.shards.map(startOf))
    const known = this.#startedAt
    this.#startedAt = startedAt
    this.#serverIsInDoubt = false
    // Both numbers are rounded to the second.
    if (known && startedAt.some((at, shard) => at > known[shard]! + 1))
      this.addUncertain([...this.#shipped.keys()])
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#cancelPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** When a server was started, seconds since 1970. */
async function startOf(clickhouse: ClickHouse): Promise<number> {
  const [server] = await clickhouse.rows<{ started_at: number }>({
    sql: 'SELECT toUnixTimestamp(now()) - uptime() AS started_at',
    params: {},
  })
  return server!.started_at
}

/** Segments are called `<spool_id>.<first seq>.<state>`. */
const spoolIdOf = (segment: string): string => segment.split('.')[0]!

/** Whether a turn in which an insert failed may be used for another try of the same bytes. */
const mayGoOn = (turn: Turn): boolean => turn.isHeld() && Date.now() - turn.begunAt < failingTurnMs
