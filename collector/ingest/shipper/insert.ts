import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { isDataError } from '../../platform/clickhouse/dataErrors.ts'
import { eventsOfShard, PlacementChanged } from '../../platform/clickhouse/placement.ts'
import { ShardAway, type ShardWatch } from '../../platform/clickhouse/shardWatch.ts'
import { splitByShard } from '../../platform/clickhouse/splitByShard.ts'
import type { ShipLease } from '../log/eventLog.ts'
import { splitLines } from '../spool/rowFields.ts'
import { appendDeadLetter } from './deadLetters.ts'

/** A batch prepared for its insert, so that every retry sends the same bytes. */
export interface Batch {
  /** Name of the batch in queries and dead letters. */
  name: string
  payloads: Buffer[]
  token: string
  /** Rows of the batch that ClickHouse has after the insert, including those that it had before. */
  rows: number
  /** When its first row was received, epoch milliseconds. */
  oldestAt: number
  /** The placement that its lookups used; undefined if they asked all shards. */
  version?: number | null
  /** The batch by shards, made at its first insert. */
  split?: BatchSplit
  /** Rows that wait for unavailable shards. */
  waiting: WaitingRows
  /** Number of its lines that are dead letters already. */
  refused: number
}

/** Rows of a batch that wait for unavailable shards. */
export interface WaitingRows {
  /** Lists of lines, each in the order of the batch. */
  lists: Buffer[][]
  /** The shards, from 0, that they wait for. */
  shards: Set<number>
  /** Those on which one of our inserts may still run. */
  unsettled: Set<number>
}

/** Returns new WaitingRows without any. */
export const noWaitingRows = (): WaitingRows => ({
  lists: [],
  shards: new Set(),
  unsettled: new Set(),
})

interface BatchSplit {
  parts: BatchPart[]
  /** The version of the placement that decided the parts. */
  version: number | null
}

/** Lines of a batch for one server. */
interface BatchPart {
  /** The number of the shard, from 0. */
  place: number
  clickhouse: ClickHouse
  table: string
  payloads: Buffer[]
  /** `waits`: its rows are in `Batch.waiting`. */
  state: 'new' | 'stored' | 'waits'
  /** Indexes of its lines that are dead letters already. */
  refused: Set<number>
}

export interface InsertOptions {
  clickhouse: ClickHouse
  table: string
  deadLetterDirectory: string
  /** The lease of the insert; null for tables that need none. */
  lease: ShipLease | null
  /** If set, rows of unavailable shards wait, and those of the others are inserted. */
  watch?: ShardWatch
  observe: { deadLetter(reason: string): void }
}

/** How long a shard may refuse inserts before its rows wait. Then another collector may try too. */
export const failingMs = 10_000

/**
 * Inserts a batch as one block for each shard. If ClickHouse refuses its data, inserts all rows except invalid ones,
 * which become dead letters. Throws an error that a retry may fix; then insert the same batch again. With
 * `options.watch`, the rows of an unavailable shard are added to `batch.waiting`. Throws PlacementChanged if the batch
 * must be read and prepared again.
 */
export async function insertBatch(options: InsertOptions, batch: Batch): Promise<void> {
  if (batch.payloads.length === 0) return
  if (batch.split) await options.clickhouse.placement?.placesForInsert([], batch.split.version)
  else batch.split = await splitBatch(options, batch)
  const parts = batch.split.parts.filter(({ state }) => state === 'new')
  // All of them end before a retry begins.
  const outcomes = await Promise.allSettled(parts.map((part) => insertPart(options, batch, part)))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function splitBatch(
  { clickhouse, table }: InsertOptions,
  { payloads, version: lookedUpIn }: Batch,
): Promise<BatchSplit> {
  const { placement, shards } = clickhouse
  const partOf = (
    part: Pick<BatchPart, 'place' | 'clickhouse' | 'table' | 'payloads'>,
  ): BatchPart => ({ ...part, state: 'new', refused: new Set() })
  if (!placement || table !== 'events')
    return { parts: [partOf({ place: 0, clickhouse, table, payloads })], version: null }
  const { parts, version } = await splitByShard({ placement, shards }, ...payloads)
  if (lookedUpIn !== undefined && lookedUpIn !== version)
    throw new PlacementChanged('shards have changed since the lookup of duplicates')
  return {
    parts: parts.map(({ place, shard, lines }) =>
      partOf({ place, clickhouse: shard, table: eventsOfShard, payloads: lines }),
    ),
    version,
  }
}

async function insertPart(options: InsertOptions, batch: Batch, part: BatchPart): Promise<void> {
  const { watch, lease } = options
  const { place } = part
  const insert = () => insertLines(options, batch, part)
  if (!watch) return insert()
  try {
    await watch.run(place, insert)
    watch.accept(place)
  } catch (error) {
    const isAway = error instanceof ShardAway
    const isRefusing =
      watch.isRefusing(place) || Date.now() - (lease?.acquiredAt ?? Date.now()) >= failingMs
    const mustThrow = error instanceof PlacementChanged || !(lease?.isHeld() ?? true)
    if (mustThrow || !(isAway || isRefusing)) throw error
    if (!isAway) watch.refuse(place, (error as Error).message)
    part.state = 'waits'
    batch.waiting.lists.push(part.payloads.flatMap(splitLines))
    batch.waiting.shards.add(place)
    batch.waiting.unsettled.add(place)
  }
}

async function insertLines(options: InsertOptions, batch: Batch, part: BatchPart): Promise<void> {
  try {
    await send(options, batch, part, part.payloads, batch.token)
  } catch (error) {
    if (!isDataError(error)) throw error
    await insertHalves(options, batch, part, part.payloads.flatMap(splitLines), 0)
  }
  if (part.state === 'new') part.state = 'stored'
}

/**
 * Inserts the two halves of lines that ClickHouse refused together; `from` is the first line's index in the
 * part.
 */
async function insertHalves(
  options: InsertOptions,
  batch: Batch,
  part: BatchPart,
  lines: Buffer[],
  from: number,
): Promise<void> {
  const middle = Math.ceil(lines.length / 2)
  for (const [half, at] of [
    [lines.slice(0, middle), from],
    [lines.slice(middle), from + middle],
  ] as const) {
    const isDeadLetter = half.length === 1 && part.refused.has(at)
    if (half.length === 0 || isDeadLetter) continue
    try {
      const token = `${batch.token} ${at}+${half.length}`
      await send(options, batch, part, [Buffer.concat(half)], token)
    } catch (error) {
      if (!isDataError(error)) throw error
      // A single line arrives here as its own first half.
      if (half.length > 1) await insertHalves(options, batch, part, half, at)
      else {
        writeDeadLetter(options, batch.name, half[0]!.toString().trimEnd(), error.message)
        part.refused.add(at)
        batch.refused++
      }
    }
  }
}

/** Writes a row of a segment as a dead letter. */
export function writeDeadLetter(
  {
    table,
    deadLetterDirectory,
    observe,
  }: Pick<InsertOptions, 'table' | 'deadLetterDirectory' | 'observe'>,
  segment: string,
  row: string,
  reason: string,
): void {
  appendDeadLetter(deadLetterDirectory, segment, { table, reason, row })
  observe.deadLetter(reason)
}

function send(
  { lease }: InsertOptions,
  { name }: Batch,
  part: BatchPart,
  payloads: Buffer[],
  token: string,
): Promise<void> {
  return part.clickhouse.insertLines(
    part.table,
    Readable.from(whileHeld(lease, part, payloads), { objectMode: false }),
    token,
    `${queryIdOf(name)}-${randomUUID()}`,
  )
}

/**
 * Yields the payloads. Throws if the lease is lost, or nobody waits for the insert any more: ClickHouse stores nothing
 * of an incomplete insert.
 */
async function* whileHeld(
  lease: ShipLease | null,
  part: BatchPart,
  payloads: readonly Buffer[],
): AsyncGenerator<Buffer> {
  requireHeld(lease, part)
  for (const piece of piecesOf(payloads)) {
    yield piece
    requireHeld(lease, part)
  }
}

/**
 * Passing on a piece costs as much as a hundred rows, so pieces are large; the lease is checked between two.
 */
const pieceBytes = 256 * 1024

/** Yields the same bytes in pieces. */
function* piecesOf(payloads: readonly Buffer[]): Generator<Buffer> {
  for (const payload of payloads)
    for (let at = 0; at < payload.length; at += pieceBytes)
      yield payload.subarray(at, at + pieceBytes)
}

function requireHeld(lease: ShipLease | null, { state }: BatchPart): void {
  if (state === 'waits')
    throw new Error('the insert was given up, because its shard is unavailable')
  if (lease && !lease.isHeld())
    throw new Error('the lease to ship was lost, possibly to another collector')
}

/**
 * Returns the prefix of the query ids of a segment's inserts, for ClickHouse's list of running queries; with
 * '' that of any insert.
 */
export const queryIdOf = (segment: string): string => `footfall-${segment.replace(/\.[a-z]+$/, '')}`
