import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { eventsOfShard } from '../../platform/clickhouse/placement.ts'
import { ShardAway, type ShardWatch } from '../../platform/clickhouse/shardWatch.ts'
import { splitByShard } from '../../platform/clickhouse/splitByShard.ts'
import type { LeaseSource, LogPartition, ShipLease } from '../log/eventLog.ts'
import { projectIdOf, splitLines } from '../spool/rowFields.ts'
import type { BatchReader, ReadBatch } from './batchReader.ts'
import type { Deduplicator } from './deduplicator.ts'
import { type Batch, noWaitingRows, queryIdOf } from './insert.ts'
import { isBeingInserted, withoutStoredLines } from './reconcile.ts'
import { type LineSet, linesIn } from './waitingLines.ts'

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
  /** The lines that are left; undefined: all. The others are in ClickHouse. */
  rest?: LineSet
}

/** A batch that is ready for its insert. Retries reuse it while its lease is held. */
export interface Shipment {
  /** Null for tables that need no lease. */
  lease: ShipLease | null
  batch: Batch
  /** All lines of the batch. */
  lines: Buffer[]
  /** Rows of records whose checksum is wrong. */
  damaged: string[]
  /** The memory of its lines, for BatchReader.release; null if it is not for reuse. */
  memory: Buffer | null
}

export interface BatchPreparerOptions {
  clickhouse: ClickHouse
  table: string
  partition: LogPartition
  batches: BatchReader
  duplicates: Deduplicator | null
  leases: LeaseSource | null
  watch: ShardWatch
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
    const { duplicates, leases, partition } = this.#options
    const read = await this.#read(queued)
    const { position, rest } = queued
    const { payloads, rows } = rest ? linesOfRest(read, rest) : read
    const batch: Batch = {
      name: partition.nameOf(position),
      payloads,
      token: partition.tokenOf(position),
      rows,
      oldestAt: read.oldestAt,
      refused: 0,
      waiting: noWaitingRows(),
    }
    const shipment = {
      batch,
      lines: read.payloads,
      damaged: rest ? [] : read.damaged,
      memory: rest ? null : read.memory,
    }
    if (!leases) return { lease: null, ...shipment }
    const ids = rest ? (duplicates?.inspectIds(payloads, rows, true) ?? null) : read.ids
    const lease = await (duplicates && ids
      ? duplicates.acquireLease(ids)
      : leases.acquire(new Uint32Array()))
    try {
      await this.#settle(batch, lease, leases)
      await this.#removeKnownRows(queued, batch, lease, ids)
      return { lease, ...shipment }
    } catch (error) {
      lease.abandon()
      throw error
    }
  }

  /** Whether its rows are on several shards. */
  get #isSharded(): boolean {
    const { clickhouse, table } = this.#options
    return clickhouse.placement !== null && table === 'events'
  }

  /** Reads a batch. One of which a rest is left is read on its own, so it does not replace the batch read ahead. */
  async #read({ position, rest }: QueuedBatch): Promise<ReadBatch> {
    const { batches, partition } = this.#options
    if (!rest) return batches.read(position)
    return { ...(await partition.consume(position, Buffer.allocUnsafeSlow)), ids: null }
  }

  /** Waits until no insert of an earlier lease runs. Unavailable shards stay unsettled: the next lease waits for them. */
  async #settle(batch: Batch, { unsettled }: ShipLease, { batchPrefix }: LeaseSource) {
    const { clickhouse, watch, pause } = this.#options
    const places = this.#isSharded ? (unsettled ?? clickhouse.shards.map((_, place) => place)) : [0]
    if (unsettled?.length === 0) return
    const { waiting } = batch
    for (const place of places) if (watch.isAway(place)) waiting.unsettled.add(place)
    if (waiting.unsettled.size === places.length) return
    await pause(arrivingMs)
    for (const place of places) {
      if (waiting.unsettled.has(place)) continue
      const settled = this.#waitForInserts(place, queryIdOf(batchPrefix))
      if (this.#isSharded) await settled.catch(() => waiting.unsettled.add(place))
      else await settled
    }
  }

  /** Waits until a shard runs no insert with this prefix. */
  async #waitForInserts(place: number, queryIdPrefix: string): Promise<void> {
    const { clickhouse, watch, pause } = this.#options
    const { nodes } = clickhouse.placement ? clickhouse.shards[place]! : clickhouse
    while (await watch.run(place, () => isBeingInserted({ nodes }, queryIdPrefix)))
      await pause(pollMs)
  }

  /** Removes the rows that ClickHouse has, and sets those aside that wait for an unavailable shard. */
  async #removeKnownRows(
    queued: QueuedBatch,
    batch: Batch,
    lease: ShipLease,
    ids: ReadBatch['ids'],
  ): Promise<void> {
    const { watch } = this.#options
    const away = new Set([...watch.away.keys(), ...batch.waiting.unsettled])
    for (;;) {
      try {
        return await this.#removeKnown(queued, batch, lease, ids, away)
      } catch (error) {
        if (!(error instanceof ShardAway) || away.has(error.shard)) throw error
        away.add(error.shard)
      }
    }
  }

  async #removeKnown(
    { isUncertain }: QueuedBatch,
    batch: Batch,
    lease: ShipLease,
    ids: ReadBatch['ids'],
    away: ReadonlySet<number>,
  ): Promise<void> {
    const { duplicates, watch, onDuplicates } = this.#options
    const split = await this.#splitOff(batch, away, isUncertain)
    const waitingProjects = new Set(split.lists.flat().map(projectIdOf))
    const reach = { watch, away, waitingProjects }
    const suspects =
      duplicates && ids && (await duplicates.findSuspects(batch.payloads, ids, lease, reach))
    let payloads = split.parts.flatMap((part) => part.payloads)
    if (isUncertain) {
      const left = await Promise.all(split.parts.map((part) => this.#notStored(batch, part)))
      payloads = left.flat()
      // ClickHouse may remember the token of rows that it lost, and would then ignore them.
      batch.token = `${batch.name} ${randomUUID()}`
    }
    const { lists } = split
    if (duplicates && suspects) {
      const checked = await duplicates.removeDuplicates(payloads, suspects, reach)
      payloads = checked.payloads
      lists.push(...checked.undecided)
      batch.rows -= checked.duplicates.length
      if (checked.duplicates.length > 0) onDuplicates(checked.duplicates)
    }
    batch.payloads = payloads
    if (split.version !== undefined) batch.version = split.version
    if (lists.length > 0) {
      batch.waiting.lists = lists
      batch.waiting.shards = new Set(away)
    }
  }

  /** Splits a batch by shards if that is necessary, and sets the lines of unavailable shards aside. */
  async #splitOff(
    { payloads }: Batch,
    away: ReadonlySet<number>,
    isUncertain: boolean,
  ): Promise<SplitOff> {
    const { clickhouse, table } = this.#options
    const { placement, shards } = clickhouse
    if (!placement || !this.#isSharded || (away.size === 0 && !isUncertain))
      return { parts: [{ place: 0, shard: clickhouse, table, payloads }], lists: [] }
    const { parts, version } = await splitByShard({ placement, shards }, ...payloads)
    return {
      version,
      parts: parts
        .filter(({ place }) => !away.has(place))
        .map(({ place, shard, lines }) => ({
          place,
          shard,
          table: eventsOfShard,
          payloads: [Buffer.concat(lines)],
        })),
      lists: parts
        .filter(({ place }) => away.has(place))
        .map(({ lines }) => lines.flatMap(splitLines)),
    }
  }

  /** Returns the lines that an earlier try has not stored. */
  async #notStored({ name }: Batch, { place, shard, table, payloads }: Part): Promise<Buffer[]> {
    await this.#waitForInserts(place, queryIdOf(name))
    return this.#options.watch.run(place, () => withoutStoredLines(shard, table, payloads))
  }
}

/** Lines of a batch on one shard. */
interface Part {
  place: number
  shard: ClickHouse
  table: string
  payloads: Buffer[]
}

interface SplitOff {
  parts: Part[]
  /** Lines of unavailable shards. */
  lists: Buffer[][]
  /** The version of the placement; undefined if the batch was not split. */
  version?: number | null
}

function linesOfRest(read: ReadBatch, rest: LineSet): Pick<ReadBatch, 'payloads' | 'rows'> {
  const lines = linesIn(read.payloads, rest)
  return { payloads: lines.length === 0 ? [] : [Buffer.concat(lines)], rows: lines.length }
}
