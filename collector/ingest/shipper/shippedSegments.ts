import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { receivedFrom } from '../spool/recover.ts'
import { spoolIdOf, withoutStoredLines } from './reconcile.ts'
import { readPayloads } from './segmentReader.ts'

export interface ShippedSegmentsOptions {
  clickhouse: ClickHouse
  /** How long a segment is kept. */
  keepMs: number
  /** Told of a segment of which ClickHouse has not all rows. */
  lacksRows(path: string): void
  retry(error: Error, segment: string): void
  /** Ends the looking. */
  signal: AbortSignal
}

const retryMsFirst = 100
const retryMsMax = 1_000

/**
 * Segments that were shipped. They are kept for a while, because a ClickHouse that crashes may have lost what it had
 * confirmed: when it was started again they are looked for, beside the shipping, for it takes no turn to see that
 * everything is there.
 */
export class ShippedSegments {
  readonly #options: ShippedSegmentsOptions
  readonly #kept = new Map<string, NodeJS.Timeout>()
  readonly #inDoubt: { path: string; receivedFrom: number }[] = []
  #looking: Promise<void> | null = null
  /** Of each shard. */
  #startedAt: readonly number[] | null = null
  #restarts = 0
  #serverIsInDoubt = true
  #needsRoomUntil = 0

  constructor(options: ShippedSegmentsOptions) {
    this.#options = options
  }

  /** How many are to be looked for. */
  get inDoubt(): number {
    return this.#inDoubt.length
  }

  /** No row of those to be looked for was received before, epoch milliseconds; Infinity when there are none. */
  get lowMark(): number {
    return this.#inDoubt.reduce(
      (least, { receivedFrom }) => Math.min(least, receivedFrom),
      Infinity,
    )
  }

  /** Keeps one that ClickHouse has. */
  keep(path: string): void {
    clearTimeout(this.#kept.get(path))
    if (Date.now() < this.#needsRoomUntil) this.#remove(path)
    else {
      const timer = setTimeout(() => this.#remove(path), this.#options.keepMs)
      timer.unref()
      this.#kept.set(path, timer)
    }
  }

  /** Removes what is kept, now and for as long as it would be. */
  makeRoom(): void {
    this.#needsRoomUntil = Date.now() + this.#options.keepMs
    for (const [path, timer] of this.#kept) {
      clearTimeout(timer)
      this.#remove(path)
    }
  }

  /** Whatever ClickHouse answers next may come from another server: what was shipped last must be looked for in it. */
  doubtServer(): void {
    this.#serverIsInDoubt = true
  }

  /** Sees whether a server in doubt is the one that confirmed the last segments. */
  async settleDoubt(): Promise<void> {
    if (this.#serverIsInDoubt) await this.noticeRestart()
  }

  /** Are they still the servers that confirmed the last segments? If not, they are looked for. */
  async noticeRestart(): Promise<void> {
    const startedAt = await Promise.all(this.#options.clickhouse.shards.map(startOf))
    const known = this.#startedAt
    this.#startedAt = startedAt
    this.#serverIsInDoubt = false
    // Both numbers are rounded to the second.
    if (!known || !startedAt.some((at, shard) => at > known[shard]! + 1)) return
    this.#restarts++
    this.lookFor([...this.#kept.keys()])
  }

  /** Looks for segments in ClickHouse. */
  lookFor(paths: readonly string[]): void {
    for (const path of paths) {
      // It must not be removed while it waits.
      clearTimeout(this.#kept.get(path))
      this.#kept.delete(path)
      this.#inDoubt.push({ path, receivedFrom: receivedFrom(path) })
    }
    this.#look()
  }

  /** Stops what `signal` has ended; what is kept stays. */
  async stop(): Promise<void> {
    await this.#looking
    for (const timer of this.#kept.values()) clearTimeout(timer)
  }

  #look(): void {
    if (this.#inDoubt.length === 0 || this.#options.signal.aborted) return
    this.#looking ??= this.#lookForAll().finally(() => {
      this.#looking = null
      // What came while the last one was finishing.
      this.#look()
    })
  }

  async #lookForAll(): Promise<void> {
    const { signal } = this.#options
    for (let retryMs = retryMsFirst; !signal.aborted; ) {
      const [next] = this.#inDoubt
      if (!next) return
      try {
        await this.settleDoubt()
        const restarts = this.#restarts
        const isStored = await this.#isStored(next.path)
        // What a server showed before it crashed it may have lost since.
        if (restarts !== this.#restarts) continue
        if (isStored) this.keep(next.path)
        else this.#options.lacksRows(next.path)
        this.#inDoubt.shift()
        retryMs = retryMsFirst
      } catch (error) {
        this.doubtServer()
        this.#options.retry(error as Error, next.path)
        await delay(retryMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** False, too, where rows were left out: as duplicates or dead letters. */
  async #isStored(path: string): Promise<boolean> {
    const payloads = await readPayloads(path)
    const missing = await withoutStoredLines(
      this.#options.clickhouse,
      spoolIdOf(basename(path)),
      payloads,
    )
    return missing.length === 0
  }

  #remove(path: string): void {
    this.#kept.delete(path)
    unlink(path).catch(() => {})
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
