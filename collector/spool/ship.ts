import { readFileSync, unlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../clickhouse/client.ts'
import { decodeSegment } from './record.ts'

export interface ShipperOptions {
  clickhouse: ClickHouse
  table: string
  /** Called when a segment is in ClickHouse and gone from disk. */
  onShipped: (rows: number, bytes: number) => void
  onError: (error: Error, segment: string) => void
}

const retryMsFirst = 250
const retryMsMost = 10_000

/**
 * Brings sealed segments to ClickHouse, oldest first, one at a time: one segment is one insert of one block, its
 * bytes as they are. The segment's name is the deduplication token, so a retry after an answer got lost, in this
 * process or the next, stores nothing twice. A segment is deleted only when ClickHouse has said yes.
 */
export class Shipper {
  readonly #options: ShipperOptions
  #queue: string[] = []
  #running: Promise<void> | null = null
  #wake: (() => void) | null = null
  #stopped = false

  constructor(options: ShipperOptions) {
    this.#options = options
  }

  /** Sealed segments that wait. */
  get backlog(): number {
    return this.#queue.length
  }

  add(segment: string): void {
    this.#queue.push(segment)
    this.#running ??= this.#run()
  }

  /** Ships what waits for at most `timeoutMs`, then stops; the rest is shipped after the next start. */
  async stop(timeoutMs: number): Promise<void> {
    const timeout = setTimeout(() => {
      this.#stopped = true
      this.#wake?.()
    }, timeoutMs)
    await this.#running
    this.#stopped = true
    clearTimeout(timeout)
  }

  async #run(): Promise<void> {
    let retryMs = retryMsFirst
    while (this.#queue.length > 0 && !this.#stopped) {
      const segment = this.#queue[0]!
      try {
        await this.#ship(segment)
        this.#queue.shift()
        retryMs = retryMsFirst
      } catch (error) {
        this.#options.onError(error as Error, segment)
        await this.#pause(retryMs * (0.5 + Math.random()))
        retryMs = Math.min(retryMs * 2, retryMsMost)
      }
    }
    this.#running = null
  }

  async #ship(segment: string): Promise<void> {
    const bytes = readFileSync(segment)
    const { payloads, rows } = decodeSegment(bytes)
    await this.#options.clickhouse.insertLines(
      this.#options.table,
      Readable.from(payloads, { objectMode: false }),
      basename(segment),
    )
    unlinkSync(segment)
    this.#options.onShipped(rows, bytes.length)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
