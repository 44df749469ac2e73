import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { onShard } from '../../platform/clickhouse/shards.ts'
import { shardPartsOf, withoutStoredLines } from './insert.ts'
import type { LogBatches } from './logBatches.ts'

interface ShippedBatchesOptions {
  clickhouse: ClickHouse
  batches: LogBatches
  table: string
  keepMs: number
  /** Start times of the servers that have all batches of an earlier process (VerifiedStarts.before). */
  verifiedStarts: readonly number[] | null
  /** Called with a batch whose rows are partly missing in ClickHouse. */
  lacksRows(position: string): void
  retry(error: Error, position: string): void
  signal: AbortSignal
}

const retryMsFirst = 100
const retryMsMax = 1_000

/** A batch of which ClickHouse may have lost rows. */
interface DoubtfulBatch {
  readonly position: string
  readonly oldestAt: number
}

/**
 * Batches that were shipped, because a ClickHouse that crashes may lose rows that it had confirmed. A batch is
 * 1. inherited: of an earlier process, until it is known whether the servers still run (then kept; otherwise doubtful),
 * 2. kept: ClickHouse has it; deleted after `keepMs`, but not while a shard is doubtful; doubtful after a restart,
 * 3. doubtful: compared with ClickHouse; then kept, or given to `lacksRows`.
 *
 * A shard is doubtful from an error until it has told when it was started. The comparison runs during the shipping, and
 * needs no lease.
 */
export class ShippedBatches {
  readonly #options: ShippedBatchesOptions
  readonly #kept = new Map<string, { timer: NodeJS.Timeout; oldestAt: number }>()
  readonly #shards: readonly ClickHouse[]
  readonly #doubtful: DoubtfulBatch[] = []
  #inherited: DoubtfulBatch[] = []
  #verifying: Promise<void> | null = null
  readonly #startedAt: number[] = []
  #restarts = 0
  readonly #doubtfulShards: Set<number>
  #needsRoomUntil = 0

  constructor(options: ShippedBatchesOptions) {
    this.#options = options
    const { clickhouse, table } = options
    this.#shards = table === 'events' ? clickhouse.shards : clickhouse.shards.slice(0, 1)
    this.#doubtfulShards = new Set(this.#shards.keys())
  }

  get doubtful(): readonly DoubtfulBatch[] {
    return this.#doubtful
  }

  /** Number of batches that it may have to verify. */
  get toVerify(): number {
    return this.#doubtful.length + this.#inherited.length
  }

  /** Whether `doubtful` has all batches that ClickHouse may have lost: those of an earlier process may be unknown. */
  get knowsDoubtful(): boolean {
    return this.#inherited.length === 0
  }

  /** The start times of the servers, if these have all committed batches; null: unknown. */
  get verifiedStarts(): readonly number[] | null {
    const isVerified = this.#doubtfulShards.size === 0 && this.toVerify === 0
    return isVerified ? [...this.#startedAt] : null
  }

  /** Adds batches of an earlier process, to verify unless the servers that had them still run. */
  inherit(positions: readonly string[]): void {
    for (const position of positions)
      this.#inherited.push({ position, oldestAt: this.#options.batches.oldestAt(position) })
    this.#settleInherited()
  }

  #settleInherited(): void {
    const { verifiedStarts } = this.#options
    if (verifiedStarts !== null && this.#doubtfulShards.size > 0) return
    const inherited = this.#inherited
    this.#inherited = []
    if (areSameRuns(this.#startedAt, verifiedStarts))
      for (const { position, oldestAt } of inherited) this.keep(position, oldestAt)
    else this.verify(inherited.map(({ position }) => position))
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

  /** The next response of any shard may come from a restarted server that has lost the last batches. */
  doubtShards(): void {
    for (const shard of this.#shards.keys()) this.#doubtfulShards.add(shard)
  }

  /**
   * When the first row that may be shipped again was received, epoch milliseconds; Infinity: none. A doubtful shard may
   * have lost the rows of all kept batches.
   */
  get repeatsFrom(): number {
    const doubtful = this.#doubtfulShards.size > 0 ? [...this.#kept.values()] : []
    return [...doubtful, ...this.#doubtful, ...this.#inherited].reduce(
      (least, { oldestAt }) => Math.min(least, oldestAt),
      Infinity,
    )
  }

  /** Checks whether the doubtful shards are those that confirmed the last batches. */
  async checkDoubtfulShards(): Promise<void> {
    await this.#checkStarts([...this.#doubtfulShards])
  }

  /** Verifies the kept batches if a server restarted after it had confirmed the last ones. */
  async noticeRestart(): Promise<void> {
    await this.#checkStarts([...this.#shards.keys()])
  }

  async #checkStarts(shards: readonly number[]): Promise<void> {
    let haveRestarted = false
    const check = async (shard: number) => {
      this.#doubtfulShards.add(shard)
      const startedAt = await onShard(this.#options.clickhouse, shard, () =>
        startOf(this.#shards[shard]!),
      )
      const previous = this.#startedAt[shard]
      this.#startedAt[shard] = startedAt
      this.#doubtfulShards.delete(shard)
      // ClickHouse rounds both times to the second.
      if (previous !== undefined && startedAt > previous + 1) haveRestarted = true
    }
    const outcomes = await Promise.allSettled(shards.map(check))
    if (haveRestarted) {
      this.#restarts++
      this.verify([...this.#kept.keys()])
    }
    this.#settleInherited()
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  verify(positions: readonly string[]): void {
    for (const position of positions) {
      // A batch must not be deleted while it waits for the search.
      clearTimeout(this.#kept.get(position)?.timer)
      this.#kept.delete(position)
      this.#doubtful.push({ position, oldestAt: this.#options.batches.oldestAt(position) })
    }
    this.#startVerifying()
  }

  /** Stops after `signal` aborts; the batches stay. */
  async stop(): Promise<void> {
    await this.#verifying
    for (const { timer } of this.#kept.values()) clearTimeout(timer)
  }

  #startVerifying(): void {
    if (this.#doubtful.length === 0 || this.#options.signal.aborted) return
    this.#verifying ??= this.#verifyAll().finally(() => {
      this.#verifying = null
      // Starts for batches that arrived while the last search ended.
      this.#startVerifying()
    })
  }

  async #verifyAll(): Promise<void> {
    const { signal } = this.#options
    let retryMs = retryMsFirst
    for (let [next] = this.#doubtful; next && !signal.aborted; [next] = this.#doubtful) {
      try {
        await this.checkDoubtfulShards()
        const restarts = this.#restarts
        const areMissing = await this.#lacksRows(next.position)
        // A server may have lost rows that it had before the crash.
        if (restarts !== this.#restarts) continue
        retryMs = retryMsFirst
        if (areMissing) this.#options.lacksRows(next.position)
        else this.keep(next.position, next.oldestAt)
        this.#doubtful.shift()
      } catch (error) {
        this.doubtShards()
        this.#options.retry(error as Error, next.position)
        await delay(retryMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Whether ClickHouse lacks rows of a batch. They are also missing if they were omitted as duplicates or dead letters. */
  async #lacksRows(position: string): Promise<boolean> {
    const { clickhouse, batches, table } = this.#options
    const { payloads } = await batches.consume(position, Buffer.allocUnsafeSlow)
    const missing = await Promise.all(
      shardPartsOf(clickhouse, table, payloads).map((part) =>
        onShard(clickhouse, part.shard, () =>
          withoutStoredLines(part.clickhouse, part.table, part.payloads),
        ),
      ),
    )
    return missing.flat().length > 0
  }

  /** Deletes a batch, unless a server does not answer: it may have lost the rows. */
  #expire(position: string, oldestAt: number): void {
    if (this.#doubtfulShards.size > 0) this.keep(position, oldestAt)
    else this.#remove(position)
  }

  #remove(position: string): void {
    this.#kept.delete(position)
    void this.#options.batches.forget(position)
  }
}

/** Returns when a server was started, seconds since 1970. */
async function startOf(clickhouse: ClickHouse): Promise<number> {
  const [server] = await clickhouse.rows<{ started_at: number }>({
    sql: 'SELECT toUnixTimestamp(now()) - uptime() AS started_at',
  })
  return server!.started_at
}

/**
 * Remembers, beyond the end of a process, since when the servers run that have all committed batches. If they still run,
 * the next process need not search for the rows of these batches.
 */
export interface VerifiedStarts {
  /** The start time of each shard, seconds since 1970, as an earlier process noted it; null: unknown. */
  readonly before: readonly number[] | null
  /** Notes that the servers with these start times have all batches that are committed now. */
  note(starts: readonly number[]): void
}

/** Whether these are the same runs of the servers. ClickHouse rounds both times to the second. */
const areSameRuns = (starts: readonly number[], others: readonly number[] | null): boolean =>
  starts.length === others?.length &&
  starts.every((start, shard) => Math.abs(start - others[shard]!) <= 1)

export function verifiedStartsIn(path: string): VerifiedStarts {
  const before = readStarts(path)
  let noted: readonly number[] | null = before
  return {
    before,
    note(starts) {
      if (areSameRuns(starts, noted)) return
      writeFileSync(`${path}.draft`, JSON.stringify(starts), { mode: 0o600 })
      renameSync(`${path}.draft`, path)
      noted = starts
    },
  }
}

function readStarts(path: string): number[] | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // A first start, or a file that a crash of the machine has cut.
    return null
  }
}
