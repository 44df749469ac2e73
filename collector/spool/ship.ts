import { readFile, rename, unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { type ClickHouse, ClickHouseRefused } from '../clickhouse/client.ts'
import { keepDeadLetter } from './deadLetters.ts'
import type { Duplicates } from './duplicates.ts'
import { splitLines } from './lines.ts'
import { isBeingInserted, withoutStoredLines } from './readBack.ts'
import { decodeSegment } from './record.ts'
import { inState } from './recover.ts'

export interface ShipperOptions {
  clickhouse: ClickHouse
  table: string
  /** Takes events out that are stored already; null for tables whose rows have no event_id. */
  duplicates: Duplicates | null
  deadLetterDirectory: string
  /** How long a shipped segment is kept, in case ClickHouse loses it in a crash. */
  keepShippedMs: number
  observe: ShipObserver
}

/** What a shipper tells whoever watches it. */
export interface ShipObserver {
  shipped(rows: number, ageMs: number): void
  duplicates(rows: number): void
  deadLetter(reason: string): void
  retry(error: Error, segment: string): void
}

/** A segment as it will be inserted: decided once, so that every retry sends the same bytes. */
interface Batch {
  payloads: Buffer[]
  token: string
  /** Lines of it that are dead letters already, as their place in it. */
  dead: Set<number>
}

interface Waiting {
  path: string
  /** Nobody knows whether it was inserted: its process was killed meanwhile, or ClickHouse crashed since. */
  isUncertain: boolean
}

const retryMsFirst = 100
const retryMsMost = 5_000

/**
 * Brings sealed segments to ClickHouse, oldest first, one at a time; one segment is one insert of one block, and
 * its bytes go as they are. What can go wrong and what is done:
 * - no answer, or ClickHouse is away or overloaded: the same bytes with the same token again, for ever. ClickHouse
 *   stores a token once, so it does no harm when the first try did arrive.
 * - ClickHouse refuses a row: the segment is halved until the row is found, which becomes a dead letter.
 * - this process is killed: the next one reads back what of the segment is there and sends the rest.
 * - ClickHouse crashes: it may have lost what it had confirmed; segments shipped in the last minutes are kept, read
 *   back and sent again where they are missing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #fresh: Waiting[] = []
  /** Looked at when nothing fresh waits. */
  readonly #uncertain: Waiting[] = []
  readonly #shipped = new Map<string, NodeJS.Timeout>()
  #running: Promise<void> | null = null
  #cancelPause: (() => void) | null = null
  #isStopped = false
  #serverStartedAt: number | null = null

  constructor(options: ShipperOptions) {
    this.#options = options
  }

  /** Segments that wait, the one under way included. */
  get backlog(): number {
    return this.#fresh.length + this.#uncertain.length
  }

  /** Takes on a sealed segment that nobody has tried to ship. */
  add(path: string): void {
    this.#fresh.push({ path, isUncertain: false })
    this.#wake()
  }

  /** Takes on segments that an earlier process left, sealed or shipped. */
  addUncertain(paths: readonly string[]): void {
    for (const path of paths) {
      const waiting = { path, isUncertain: true }
      // One that was shipped is probably there: it waits until all others are.
      if (path.endsWith('.done')) this.#uncertain.push(waiting)
      else this.#fresh.push(waiting)
    }
    this.#wake()
  }

  /** Ships what waits for at most `timeoutMs`, then stops; the rest is shipped after the next start. */
  async stop(timeoutMs: number): Promise<void> {
    const timeout = setTimeout(() => {
      this.#isStopped = true
      this.#cancelPause?.()
    }, timeoutMs)
    await this.#running
    this.#isStopped = true
    clearTimeout(timeout)
    for (const timer of this.#shipped.values()) clearTimeout(timer)
  }

  #wake(): void {
    if (!this.#isStopped) this.#running ??= this.#run().finally(() => (this.#running = null))
  }

  async #run(): Promise<void> {
    for (;;) {
      const queue = this.#fresh.length > 0 ? this.#fresh : this.#uncertain
      const next = queue[0]
      if (!next || this.#isStopped) return
      await this.#shipUntilDone(next)
      queue.shift()
    }
  }

  async #shipUntilDone(waiting: Waiting): Promise<void> {
    let batch: Batch | null = null
    for (let retryMs = retryMsFirst; !this.#isStopped; retryMs = Math.min(retryMs * 2, retryMsMost)) {
      try {
        batch ??= await this.#prepare(waiting)
        await this.#insert(batch, 0, splitLinesWhenNeeded(batch))
        return await this.#finish(waiting.path)
      } catch (error) {
        this.#options.observe.retry(error as Error, waiting.path)
        await this.#pause(retryMs * (0.5 + Math.random()))
      }
    }
  }
}
