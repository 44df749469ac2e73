import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { onShard } from '../../platform/clickhouse/shards.ts'
import type { LeaseSource, LogPartition, ShipLease } from '../log/eventLog.ts'
import type { BatchReader } from './batchReader.ts'
import type { Deduplicator } from './deduplicator.ts'
import { type Batch, type BatchPart, partsOfBatch, queryIdOf } from './insert.ts'
import { isBeingInserted, withoutStoredLines } from './reconcile.ts'

/** A batch in the queue of a shipper. */
export interface QueuedBatch {
  /** Its place in the log (log/eventLog.ts): in the spool, the path of a segment. */
  position: string
  /**
   * Whether it may have been inserted: its process was killed, the lease was lost, or ClickHouse crashed
   * since.
   */
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
  /** The memory of its lines, for BatchReader.release. */
  memory: Buffer
}

export interface BatchPreparerOptions {
  clickhouse: ClickHouse
  table: string
  partition: LogPartition
  batches: BatchReader
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

  constructor(options: BatchPreparerOptions) {
    this.#options = options
  }

  async prepare(queued: QueuedBatch): Promise<Shipment> {
    const { clickhouse, table, batches, duplicates, leases, partition } = this.#options
    const { position } = queued
    const { payloads, rows, oldestAt, damaged, memory, ids } = await batches.read(position)
    const batch: Batch = {
      name: partition.nameOf(position),
      parts: partsOfBatch(clickhouse, table, payloads),
      token: partition.tokenOf(position),
      rows,
      oldestAt,
      refused: 0,
    }
    if (!leases) return { lease: null, batch, damaged, memory }
    const lease = await (duplicates && ids
      ? duplicates.acquireLease(ids)
      : leases.acquire(new Uint32Array()))
    try {
      if (lease.mayOtherInsertsRun) {
        await this.#options.pause(arrivingMs)
        await this.#waitForInserts(queryIdOf(leases.batchPrefix))
      }
      const suspects = duplicates && ids && (await duplicates.findSuspects(payloads, ids, lease))
      if (queued.isUncertain) await this.#removeStored(batch)
      if (duplicates && suspects) await this.#removeDuplicates(duplicates, batch, suspects)
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

  /** Removes the rows that an earlier try has stored. */
  async #removeStored(batch: Batch): Promise<void> {
    await this.#waitForInserts(queryIdOf(batch.name))
    await this.#eachPart(batch, async (part) => {
      part.payloads = await withoutStoredLines(part.clickhouse, part.table, part.payloads)
    })
    // ClickHouse may remember the token of rows that it lost, and would then ignore them.
    batch.token = `${batch.name} ${randomUUID()}`
  }

  /** All events of a project are in one part, on one shard. */
  async #removeDuplicates(
    duplicates: Deduplicator,
    batch: Batch,
    suspects: ReadonlySet<string>,
  ): Promise<void> {
    await this.#eachPart(batch, async (part) => {
      const checked = await duplicates.removeDuplicates(part, suspects)
      part.payloads = checked.payloads
      batch.rows -= checked.duplicates.length
      if (checked.duplicates.length > 0) this.#options.onDuplicates(checked.duplicates)
    })
  }

  async #eachPart({ parts }: Batch, work: (part: BatchPart) => Promise<void>): Promise<void> {
    await Promise.all(
      parts.map((part) => onShard(this.#options.clickhouse, part.shard, () => work(part))),
    )
  }
}
