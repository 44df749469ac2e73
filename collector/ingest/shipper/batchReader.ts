import type { ConsumedRows, LogPartition } from '../log/eventLog.ts'
import type { Deduplicator, SegmentIds } from './deduplicator.ts'

/** A batch in memory. */
export interface ReadBatch extends ConsumedRows {
  /** Null for tables whose rows have no event_id. */
  ids: SegmentIds | null
}

const memoryBytesMin = 1024 * 1024

/**
 * Reads batches one after another, the next one while the current one is inserted. It reuses memory, because
 * allocating it for each batch would occupy the garbage collector.
 */
export class BatchReader {
  readonly #partition: LogPartition
  readonly #duplicates: Deduplicator | null
  readonly #free: Buffer[] = []
  #ahead: { position: string; batch: Promise<ReadBatch> } | null = null

  constructor(partition: LogPartition, duplicates: Deduplicator | null) {
    this.#partition = partition
    this.#duplicates = duplicates
  }

  async read(position: string): Promise<ReadBatch> {
    const ahead = this.#ahead
    this.#ahead = null
    return ahead?.position === position ? ahead.batch : this.#readNow(position)
  }

  /** Starts to read the next batch, if there is one and no other is being read. */
  readAhead(position: string | undefined): void {
    if (position === undefined || this.#ahead) return
    const batch = this.#readNow(position)
    // If this fails, `read` retries later, and reports the error.
    batch.catch(() => {
      this.#ahead = null
    })
    this.#ahead = { position, batch }
  }

  /** Returns the memory of a batch for reuse. */
  release(memory: Buffer): void {
    this.#free.push(memory)
    // One buffer for the batch being inserted, one for the batch being read.
    if (this.#free.length > 2) this.#free.shift()
  }

  async #readNow(position: string): Promise<ReadBatch> {
    const consumed = await this.#partition.consume(position, (bytes) => this.#take(bytes))
    const ids = this.#duplicates?.inspectIds(consumed.payloads, consumed.rows) ?? null
    return { ...consumed, ids }
  }

  #take(bytes: number): Buffer {
    const free = this.#free.findIndex(({ length }) => length >= bytes)
    if (free !== -1) return this.#free.splice(free, 1)[0]!
    return Buffer.allocUnsafeSlow(Math.max(memoryBytesMin, 2 ** Math.ceil(Math.log2(bytes))))
  }
}
