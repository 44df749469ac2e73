import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { eventsOfShard } from '../../platform/clickhouse/placement.ts'
import { ShardAway, type ShardWatch } from '../../platform/clickhouse/shardWatch.ts'
import { splitByShard } from '../../platform/clickhouse/splitByShard.ts'
import type { LogPartition } from '../log/eventLog.ts'
import { withoutStoredLines } from './reconcile.ts'

export interface ShippedSegmentsOptions {
  clickhouse: ClickHouse
  /** Watches the shards that have rows of the table. */
  watch: ShardWatch
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

/** A batch of which ClickHouse may have lost rows. */
interface DoubtfulBatch {
  readonly position: string
  readonly oldestAt: number
  /** The shards, from 0, to search. */
  shards: Set<number>
  /** The version of the placement at the restart; undefined if all shards are searched. */
  version: number | null | undefined
}

/**
 * Batches that were shipped. They are kept for a while, because a ClickHouse that crashes may lose rows that it had
 * confirmed. After a restart they are compared with ClickHouse. That runs during the shipping, and needs no lease.
 * While a shard is unavailable, all of them are kept.
 */
export class ShippedSegments {
  readonly #options: ShippedSegmentsOptions
  readonly #kept = new Map<string, { timer: NodeJS.Timeout; oldestAt: number }>()
  readonly #shards: readonly ClickHouse[]
  readonly #inDoubt: DoubtfulBatch[] = []
  #looking: Promise<void> | null = null
  /** Start time of each shard. */
  readonly #startedAt: number[] = []
  #restarts = 0
  /** Shards that may have restarted. */
  readonly #doubtfulShards: Set<number>
  #needsRoomUntil = 0

  constructor(options: ShippedSegmentsOptions) {
    this.#options = options
    const { clickhouse, table } = options
    this.#shards = table === 'events' ? clickhouse.shards : clickhouse.shards.slice(0, 1)
    this.#doubtfulShards = new Set(this.#shards.keys())
  }

  /** The batches to verify. */
  get doubtful(): readonly DoubtfulBatch[] {
    return this.#inDoubt
  }

  /** Keeps a batch that ClickHouse has. `oldestAt`: when its first row was received, epoch milliseconds. */
  keep(position: string, oldestAt: number): void {
    clearTimeout(this.#kept.get(position)?.timer)
    if (Date.now() < this.#needsRoomUntil) this.#remove(position)
    else {
      const timer = setTimeout(() => this.#expire(position, oldestAt), this.#options.keepMs)
      timer.unref()
      this.#kept.set(position, { timer, oldestAt })
    }
  }

  /** Deletes kept batches, now and for the retention time. */
  makeRoom(): void {
    this.#needsRoomUntil = Date.now() + this.#options.keepMs
    for (const [position, { timer }] of this.#kept) {
      clearTimeout(timer)
      this.#remove(position)
    }
  }

  /** The next response of these shards, or of any, may come from a restarted server that has lost the last batches. */
  doubtServers(shards: Iterable<number> = this.#shards.keys()): void {
    for (const shard of shards) this.#doubtfulShards.add(shard)
  }

  /**
   * When the first row that may be shipped again was received, epoch milliseconds; Infinity: none. A shard in doubt may
   * have lost the rows of all kept batches.
   */
  get repeatsFrom(): number {
    const kept = this.#doubtfulShards.size > 0 ? [...this.#kept.values()] : []
    return [...kept, ...this.#inDoubt].reduce(
      (least, { oldestAt }) => Math.min(least, oldestAt),
      Infinity,
    )
  }

  /** Checks whether the servers in doubt are those that confirmed the last segments. */
  async settleDoubt(): Promise<void> {
    await this.#checkStarts([...this.#doubtfulShards])
  }

  /**
   * Checks whether the servers restarted after they confirmed the last segments. If so, searches for missing
   * rows. A shard that is unavailable is checked when it returns.
   */
  async noticeRestart(): Promise<void> {
    await this.#checkStarts([...this.#shards.keys()])
  }

  async #checkStarts(shards: readonly number[]): Promise<void> {
    const restarted = new Set<number>()
    const check = async (shard: number) => {
      const startedAt = await this.#ask(shard, () => startOf(this.#shards[shard]!))
      if (startedAt === null) return this.doubtServers([shard])
      const known = this.#startedAt[shard]
      this.#startedAt[shard] = startedAt
      this.#doubtfulShards.delete(shard)
      // ClickHouse rounds both times to the second.
      if (known !== undefined && startedAt > known + 1) restarted.add(shard)
    }
    await Promise.all(shards.map(check))
    if (restarted.size === 0) return
    this.#restarts++
    for (const batch of this.#inDoubt) for (const shard of restarted) batch.shards.add(shard)
    // An unknown version means that all shards are searched.
    const version = await this.#options.clickhouse.placement?.version().catch(() => undefined)
    this.#lookFor([...this.#kept.keys()], restarted, version)
  }

  /** Returns a shard's answer, or null if it is one of several and unavailable. */
  async #ask<T>(shard: number, question: () => Promise<T>): Promise<T | null> {
    try {
      return await this.#options.watch.run(shard, question)
    } catch (error) {
      if (error instanceof ShardAway) return null
      throw error
    }
  }

  /** Searches ClickHouse for the rows of segments. */
  lookFor(positions: readonly string[]): void {
    this.#lookFor(positions, this.#shards.keys(), undefined)
  }

  #lookFor(
    positions: readonly string[],
    shards: Iterable<number>,
    version: number | null | undefined,
  ): void {
    const searched = [...shards]
    for (const position of positions) {
      // A segment must not be deleted while it waits for the search.
      clearTimeout(this.#kept.get(position)?.timer)
      this.#kept.delete(position)
      const oldestAt = this.#options.partition.oldestAt(position)
      this.#inDoubt.push({ position, oldestAt, shards: new Set(searched), version })
    }
    this.#look()
  }

  /** Stops after `signal` aborts; the segments stay. */
  async stop(): Promise<void> {
    await this.#looking
    for (const { timer } of this.#kept.values()) clearTimeout(timer)
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
    const { watch } = this.#options
    for (let retryMs = retryMsFirst; !signal.aborted && this.#inDoubt.length > 0; ) {
      const next = this.#inDoubt.find(({ shards }) =>
        [...shards].some((shard) => !watch.isAway(shard)),
      )
      if (!next) {
        await delay(retryMsMax, undefined, { signal }).catch(() => {})
        continue
      }
      try {
        await this.settleDoubt()
        const restarts = this.#restarts
        const found = await this.#search(next)
        // A server may have lost rows that it had before the crash.
        if (restarts !== this.#restarts) continue
        retryMs = retryMsFirst
        next.shards = found.unasked
        if (found.areMissing) this.#options.lacksRows(next.position)
        else if (next.shards.size > 0) continue
        else this.keep(next.position, next.oldestAt)
        this.#inDoubt.splice(this.#inDoubt.indexOf(next), 1)
      } catch (error) {
        this.doubtServers()
        this.#options.retry(error as Error, next.position)
        await delay(retryMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Searches for the rows of a batch. They are also missing if they were omitted as duplicates or dead letters. */
  async #search({
    position,
    shards,
    version: versionAtRestart,
  }: DoubtfulBatch): Promise<{ areMissing: boolean; unasked: Set<number> }> {
    const { clickhouse, partition, table } = this.#options
    const { placement } = clickhouse
    const { payloads } = await partition.consume(position, Buffer.allocUnsafeSlow)
    const unasked = new Set<number>()
    const isMissing = async (place: number, server: ClickHouse, from: string, lines: Buffer[]) => {
      const missing = await this.#ask(place, () => withoutStoredLines(server, from, lines))
      if (missing === null) unasked.add(place)
      return missing !== null && missing.length > 0
    }
    if (!placement || table !== 'events')
      return { areMissing: await isMissing(0, clickhouse, table, payloads), unasked }
    const { parts, version } = await splitByShard({ placement, shards: this.#shards }, ...payloads)
    const missing = await Promise.all(
      parts
        // A pixel may have moved since the restart.
        .filter(({ place }) => shards.has(place) || version !== versionAtRestart)
        .map(({ place, shard, lines }) =>
          isMissing(place, shard, eventsOfShard, [Buffer.concat(lines)]),
        ),
    )
    return { areMissing: missing.includes(true), unasked }
  }

  /** Deletes a batch, unless a shard is unavailable that may have lost its rows. */
  #expire(position: string, oldestAt: number): void {
    if (this.#options.watch.away.size > 0) this.keep(position, oldestAt)
    else this.#remove(position)
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
