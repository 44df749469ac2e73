import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { LogPartition } from '../log/eventLog.ts'
import { withoutStoredLines } from './reconcile.ts'

export interface ShippedSegmentsOptions {
  clickhouse: ClickHouse
  partition: LogPartition
  table: string
  /** How long a batch is kept. */
  keepMs: number
  /** Called with a batch whose rows are partly missing in ClickHouse. */
  lacksRows(position: string): void
  retry(error: Error, position: string): void
  /** Ends the search. */
  signal: AbortSignal
}

const retryMsFirst = 100
const retryMsMax = 1_000

/**
 * Batches that were shipped. They are kept for a while, because a ClickHouse that crashes may lose rows that it had
 * confirmed. After a restart they are compared with ClickHouse. That runs during the shipping, and needs no lease.
 */
export class ShippedSegments {
  readonly #options: ShippedSegmentsOptions
  readonly #kept = new Map<string, NodeJS.Timeout>()
  readonly #inDoubt: { position: string; oldestAt: number }[] = []
  #looking: Promise<void> | null = null
  /** Start time of each shard. */
  #startedAt: readonly number[] | null = null
  #restarts = 0
  #serverIsInDoubt = true
  #needsRoomUntil = 0

  constructor(options: ShippedSegmentsOptions) {
    this.#options = options
  }

  /** Number of batches to verify. */
  get inDoubt(): number {
    return this.#inDoubt.length
  }

  /** No row to search for was received before this time, epoch milliseconds; Infinity without such rows. */
  get lowMark(): number {
    return this.#inDoubt.reduce((least, { oldestAt }) => Math.min(least, oldestAt), Infinity)
  }

  /** Keeps a batch that ClickHouse has. */
  keep(position: string): void {
    clearTimeout(this.#kept.get(position))
    if (Date.now() < this.#needsRoomUntil) this.#remove(position)
    else {
      const timer = setTimeout(() => this.#remove(position), this.#options.keepMs)
      timer.unref()
      this.#kept.set(position, timer)
    }
  }

  /** Deletes kept batches, now and for the retention time. */
  makeRoom(): void {
    this.#needsRoomUntil = Date.now() + this.#options.keepMs
    for (const [position, timer] of this.#kept) {
      clearTimeout(timer)
      this.#remove(position)
    }
  }

  /** The next response may come from a restarted server that has lost the last batches. */
  doubtServer(): void {
    this.#serverIsInDoubt = true
  }

  /** Checks whether a server in doubt is the one that confirmed the last segments. */
  async settleDoubt(): Promise<void> {
    if (this.#serverIsInDoubt) await this.noticeRestart()
  }

  /**
   * Checks whether the servers restarted after they confirmed the last segments. If so, searches for missing
   * rows.
   */
  async noticeRestart(): Promise<void> {
    const startedAt = await Promise.all(this.#options.clickhouse.shards.map(startOf))
    const known = this.#startedAt
    this.#startedAt = startedAt
    this.#serverIsInDoubt = false
    // ClickHouse rounds both times to the second.
    if (!known || !startedAt.some((at, shard) => at > known[shard]! + 1)) return
    this.#restarts++
    this.lookFor([...this.#kept.keys()])
  }

  /** Searches ClickHouse for segments. */
  lookFor(positions: readonly string[]): void {
    for (const position of positions) {
      // A segment must not be deleted while it waits for the search.
      clearTimeout(this.#kept.get(position))
      this.#kept.delete(position)
      this.#inDoubt.push({ position, oldestAt: this.#options.partition.oldestAt(position) })
    }
    this.#look()
  }

  /** Stops after `signal` aborts; the segments stay. */
  async stop(): Promise<void> {
    await this.#looking
    for (const timer of this.#kept.values()) clearTimeout(timer)
  }

  #look(): void {
    if (this.#inDoubt.length === 0 || this.#options.signal.aborted) return
    this.#looking ??= this.#lookForAll().finally(() => {
      this.#looking = null
      // Starts for segments that arrived while the last search ended.
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
        const isStored = await this.#isStored(next.position)
        // A server may have lost rows that it had before the crash.
        if (restarts !== this.#restarts) continue
        if (isStored) this.keep(next.position)
        else this.#options.lacksRows(next.position)
        this.#inDoubt.shift()
        retryMs = retryMsFirst
      } catch (error) {
        this.doubtServer()
        this.#options.retry(error as Error, next.position)
        await delay(retryMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Also false if rows were omitted as duplicates or dead letters. */
  async #isStored(position: string): Promise<boolean> {
    const { clickhouse, partition, table } = this.#options
    const { payloads } = await partition.consume(position, Buffer.allocUnsafeSlow)
    const missing = await withoutStoredLines(clickhouse, table, payloads)
    return missing.length === 0
  }

  #remove(position: string): void {
    this.#kept.delete(position)
    void this.#options.partition.forget(position)
  }
}

/** Returns when a server was started, seconds since 1970. */
async function startOf(clickhouse: ClickHouse): Promise<number> {
  const [server] = await clickhouse.rows<{ started_at: number }>({
    sql: 'SELECT toUnixTimestamp(now()) - uptime() AS started_at',
    params: {},
  })
  return server!.started_at
}
