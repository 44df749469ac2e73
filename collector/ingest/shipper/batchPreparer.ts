import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { onShard } from '../../platform/clickhouse/shards.ts'
import type { BatchIds, Deduplicator, LeasedBatch, Suspects } from './deduplicator.ts'
import {
  type Batch,
  isBeingInserted,
  queryIdOf,
  type ShardPart,
  shardPartsOf,
  withoutStoredLines,
} from './insert.ts'
import type { ConsumedRows, LogBatches } from './logBatches.ts'
import type { LeaseSource, ShipLease } from './shipLeases.ts'

export interface QueuedBatch {
  /** Its place in the log (logBatches.ts): in the spool, the path of a segment. */
  position: string
  /** Whether it may have been inserted: an earlier try, or ClickHouse, ended at an unknown point. */
  isUncertain: boolean
  /** When its first row, the earliest, was received; epoch milliseconds. */
  oldestAt: number
}

/** A batch that is ready for its insert. Retries reuse it while its lease is held. */
export interface Shipment {
  /** Null for tables that need no lease. */
  lease: ShipLease | null
  batch: Batch
  /** Rows of records whose checksum is wrong. */
  damaged: string[]
  /** The memory of its lines, for `release`. */
  memory: Buffer
}

interface BatchPreparerOptions {
  clickhouse: ClickHouse
  table: string
  batches: LogBatches
  duplicates: Deduplicator | null
  leases: LeaseSource | null
  /** Reports lines whose events are stored already. */
  onDuplicates(lines: readonly Buffer[]): void
  pause(ms: number): Promise<void>
}

const pollMs = 100
/** How long an insert of an abandoned lease may take to appear in ClickHouse's list of running queries. */
const arrivingMs = 1_000

/**
 * Prepares batches for their inserts: reads them, acquires the lease, and removes the rows that ClickHouse has. The
 * order of the steps is in shipper.ts.
 */
export class BatchPreparer {
  readonly #options: BatchPreparerOptions
  readonly #reader: BatchReader

  constructor(options: BatchPreparerOptions) {
    this.#options = options
    this.#reader = new BatchReader(options.batches, options.duplicates)
  }

  /** Starts to read the next batch, if there is one. */
  readAhead(position: string | undefined): void {
    this.#reader.readAhead(position)
  }

  release({ memory }: Shipment): void {
    this.#reader.release(memory)
  }

  async prepare(queued: QueuedBatch): Promise<Shipment> {
    const { clickhouse, table, leases, batches } = this.#options
    const { position } = queued
    const { payloads, rows, oldestAt, damaged, memory, ids } = await this.#reader.read(position)
    const batch: Batch = {
      name: batches.nameOf(position),
      parts: shardPartsOf(clickhouse, table, payloads),
      token: batches.tokenOf(position),
      rows,
      oldestAt,
      refused: 0,
    }
    if (!leases) return { lease: null, batch, damaged, memory }
    const { lease, findSuspects } = await (ids?.acquireLease() ?? leaseWithoutIds(leases))
    try {
      if (lease.mayOtherInsertsRun) {
        await this.#options.pause(arrivingMs)
        await this.#waitForInserts(queryIdOf(leases.batchPrefix))
      }
      const suspects = await findSuspects()
      if (queued.isUncertain) await this.#removeStored(batch)
      await this.#removeDuplicates(batch, suspects)
      return { lease, batch, damaged, memory }
    } catch (error) {
      lease.abandon()
      throw error
    }
  }

  /** Waits until no server runs an insert with this prefix. */
  async #waitForInserts(queryIdPrefix: string): Promise<void> {
    const { clickhouse, pause } = this.#options
    while (await isBeingInserted(clickhouse, queryIdPrefix)) await pause(pollMs)
  }

  async #removeStored(batch: Batch): Promise<void> {
    await this.#waitForInserts(queryIdOf(batch.name))
    await this.#eachPart(batch, async (part) => {
      part.payloads = await withoutStoredLines(part.clickhouse, part.table, part.payloads)
    })
    // ClickHouse may remember the token of rows that it lost, and would then ignore them.
    batch.token = `${batch.name} ${randomUUID()}`
  }

  /** All events of a project are in one part, on one shard. */
  async #removeDuplicates(batch: Batch, suspects: Suspects): Promise<void> {
    await this.#eachPart(batch, async (part) => {
      const checked = await suspects.removeFrom(part)
      part.payloads = checked.payloads
      batch.rows -= checked.duplicates.length
      if (checked.duplicates.length > 0) this.#options.onDuplicates(checked.duplicates)
    })
  }

  async #eachPart({ parts }: Batch, work: (part: ShardPart) => Promise<void>): Promise<void> {
    await Promise.all(
      parts.map((part) => onShard(this.#options.clickhouse, part.shard, () => work(part))),
    )
  }
}

interface ReadBatch extends ConsumedRows {
  /** Null for tables whose rows have no event_id. */
  ids: BatchIds | null
}

/** Acquires a lease for rows without an event_id, of which none is a suspect. */
async function leaseWithoutIds(leases: LeaseSource): Promise<LeasedBatch> {
  const noSuspects: Suspects = {
    removeFrom: async ({ payloads }) => ({ payloads, duplicates: [] }),
  }
  return { lease: await leases.acquire(new Uint32Array()), findSuspects: async () => noSuspects }
}

const memoryBytesMin = 1024 * 1024

/**
 * Reads batches one after another, the next one while the current one is inserted. It reuses memory, because
 * allocating it for each batch would occupy the garbage collector.
 */
class BatchReader {
  readonly #batches: LogBatches
  readonly #duplicates: Deduplicator | null
  readonly #free: Buffer[] = []
  #ahead: { position: string; batch: Promise<ReadBatch> } | null = null

  constructor(batches: LogBatches, duplicates: Deduplicator | null) {
    this.#batches = batches
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

  release(memory: Buffer): void {
    this.#free.push(memory)
    // One buffer for the batch being inserted, one for the batch being read.
    if (this.#free.length > 2) this.#free.shift()
  }

  async #readNow(position: string): Promise<ReadBatch> {
    const consumed = await this.#batches.consume(position, (bytes) => this.#take(bytes))
    const ids = this.#duplicates?.inspectIds(consumed.payloads, consumed.rows) ?? null
    return { ...consumed, ids }
  }

  #take(bytes: number): Buffer {
    const free = this.#free.findIndex(({ length }) => length >= bytes)
    if (free !== -1) return this.#free.splice(free, 1)[0]!
    return Buffer.allocUnsafeSlow(Math.max(memoryBytesMin, 2 ** Math.ceil(Math.log2(bytes))))
  }
}
