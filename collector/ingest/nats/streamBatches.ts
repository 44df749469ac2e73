import { type ConsumedRows, decodeBatch, type LogBatches } from '../shipper/logBatches.ts'
import { oldestAtOf } from '../spool/segmentFile.ts'

/** Consecutive messages of a stream, which are inserted together. */
interface MessageBatch {
  first: number
  last: number
  /** The records of the messages; null if they must be read again. */
  records: readonly Uint8Array[] | null
  oldestAt: number
}

interface StreamBatchesOptions {
  stream: string
  /** When NATS created the stream: a token must not repeat if the stream was deleted and created again. */
  created: string
  readAgain(first: number, last: number): Promise<Uint8Array[]>
  /** Records in PostgreSQL that ClickHouse has the messages after `from`, up to `to`. */
  commit(from: number, to: number): Promise<void>
  /** Deletes the messages up to a position. */
  purge(to: number): Promise<void>
}

/**
 * The batches of one stream of NATS. A position names consecutive messages, `<stream>.<first>-<last>`, with the suffix
 * `.done` once ClickHouse has them. Positions are committed in their order, without gaps.
 */
export class StreamBatches implements LogBatches {
  /** Another owner may divide the messages into other batches. */
  readonly isFixed = false
  readonly #options: StreamBatchesOptions
  readonly #batches = new Map<string, MessageBatch>()
  /** Batches that may be deleted, while an earlier one may not. */
  readonly #forgotten = new Set<string>()

  constructor(options: StreamBatchesOptions) {
    this.#options = options
  }

  /** Adds a batch, and returns its position. Batches must be added in their order. */
  add(batch: MessageBatch, isCommitted: boolean): string {
    const name = `${this.#options.stream}.${batch.first}-${batch.last}`
    this.#batches.set(name, batch)
    return isCommitted ? `${name}${done}` : name
  }

  nameOf(position: string): string {
    return nameIn(position)
  }

  tokenOf(position: string): string {
    return `${nameIn(position)} ${this.#options.created}`
  }

  oldestAt(position: string): number {
    return this.#batches.get(nameIn(position))?.oldestAt ?? 0
  }

  async consume(position: string, allocate: (bytes: number) => Buffer): Promise<ConsumedRows> {
    const { first, last, records, oldestAt } = this.#batchAt(position)
    const parts = records ?? (await this.#options.readAgain(first, last))
    const memory = allocate(parts.reduce((sum, { length }) => sum + length, 0))
    let end = 0
    for (const part of parts) {
      memory.set(part, end)
      end += part.length
    }
    return decodeBatch(memory.subarray(0, end), memory, oldestAt)
  }

  isCommitted(position: string): boolean {
    return position.endsWith(done)
  }

  async commit(position: string): Promise<string> {
    if (this.isCommitted(position)) return position
    const batch = this.#batchAt(position)
    await this.#options.commit(batch.first - 1, batch.last)
    batch.records = null
    return `${position}${done}`
  }

  async forget(position: string): Promise<void> {
    this.#forgotten.add(nameIn(position))
    let to = 0
    for (const [name, { last }] of this.#batches) {
      if (!this.#forgotten.delete(name)) break
      this.#batches.delete(name)
      to = last
    }
    // If it fails, a later one deletes these messages too.
    if (to > 0) await this.#options.purge(to).catch(() => {})
  }

  #batchAt(position: string): MessageBatch {
    return this.#batches.get(nameIn(position))!
  }
}

const done = '.done'
const nameIn = (position: string): string =>
  position.endsWith(done) ? position.slice(0, -done.length) : position

/** Returns when the earliest row of a message was received, epoch milliseconds. */
export const oldestAtOfRecord = (record: Uint8Array): number =>
  oldestAtOf(Buffer.from(record.buffer, record.byteOffset, record.byteLength))
