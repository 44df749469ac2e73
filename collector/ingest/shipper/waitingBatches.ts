import type { ShardWatch } from '../../platform/clickhouse/shardWatch.ts'
import type { LineSet } from './waitingLines.ts'

/** A batch of which some lines wait for unavailable shards. It stays in the log until the last of them is stored. */
export interface WaitingBatch {
  readonly position: string
  readonly oldestAt: number
  readonly rest: LineSet
  /** The shards, from 0, that its lines wait for. */
  readonly shards: ReadonlySet<number>
  /** The version of the placement by which they wait for these shards. */
  readonly version: number | null | undefined
}

/** The time until the next try of a batch whose shard answers, but did not take the lines. */
const retryMs = 1_000

/**
 * The batches that wait for unavailable shards. In memory it keeps a bit for each of their lines, which is about a
 * thousandth of the log.
 */
export class WaitingBatches {
  readonly #watch: ShardWatch
  readonly #batches = new Map<string, WaitingBatch & { readonly notBefore: number }>()

  constructor(watch: ShardWatch) {
    this.#watch = watch
  }

  get size(): number {
    return this.#batches.size
  }

  has(position: string): boolean {
    return this.#batches.has(position)
  }

  /** Keeps a batch, or what is left of it now. It is tried again when one of its shards is available. */
  set(batch: WaitingBatch): void {
    const notBefore = performance.now() + (this.#isAnyThere(batch) ? retryMs : 0)
    this.#batches.delete(batch.position)
    this.#batches.set(batch.position, { ...batch, notBefore })
  }

  /** Forgets a batch that is stored. */
  delete(position: string): void {
    this.#batches.delete(position)
  }

  /** Returns the first batch that may be tried now; undefined if there is none. */
  next(): WaitingBatch | undefined {
    const now = performance.now()
    for (const batch of this.#batches.values())
      if (now >= batch.notBefore && this.#isAnyThere(batch)) return batch
    return undefined
  }

  values(): Iterable<WaitingBatch> {
    return this.#batches.values()
  }

  #isAnyThere({ shards }: WaitingBatch): boolean {
    return [...shards].some((shard) => !this.#watch.isAway(shard))
  }
}
