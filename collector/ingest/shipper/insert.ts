import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { isDataError } from '../../platform/clickhouse/dataErrors.ts'
import { eventsOfShard, onShard, splitByShard } from '../../platform/clickhouse/shards.ts'
import { receivedAtOf, seqOf, splitLines, spoolIdOf } from '../spool/rowFields.ts'
import { appendDeadLetter } from './deadLetters.ts'
import type { ShipLease } from './shipLeases.ts'

/** A batch prepared for its insert, so that every retry sends the same bytes. */
export interface Batch {
  /** Name of the batch in queries and dead letters. */
  name: string
  /** Its lines, for each server that stores some of them. */
  parts: readonly ShardPart[]
  token: string
  /** Rows of the batch that ClickHouse has after the insert, including those that it had before. */
  rows: number
  /** When its first row was received, epoch milliseconds. */
  oldestAt: number
  /** Number of its lines that are dead letters already. */
  refused: number
}

export interface ShardPart {
  /** The number of the shard, from 0. */
  readonly shard: number
  readonly clickhouse: ClickHouse
  readonly table: string
  payloads: Buffer[]
  isStored: boolean
  /** Indexes of its lines that are dead letters already. */
  readonly refused: Set<number>
}

export function shardPartsOf(
  clickhouse: ClickHouse,
  table: string,
  payloads: Buffer[],
): ShardPart[] {
  const { shards } = clickhouse
  const partOf = (part: Pick<ShardPart, 'shard' | 'clickhouse' | 'table' | 'payloads'>) => ({
    ...part,
    isStored: false,
    refused: new Set<number>(),
  })
  if (shards.length === 1 || table !== 'events')
    return [partOf({ shard: 0, clickhouse, table, payloads })]
  return splitByShard(payloads, shards.length).map(({ shard, payloads }) =>
    partOf({ shard, clickhouse: shards[shard]!, table: eventsOfShard, payloads }),
  )
}

interface InsertOptions {
  clickhouse: ClickHouse
  table: string
  deadLetterDirectory: string
  /** The lease of the insert; null for tables that need none. */
  lease: ShipLease | null
  observe: { deadLetter(reason: string): void }
}

/** How long a lease retries a failing insert. Then another collector may try too. */
export const failingMs = 10_000

/**
 * Inserts a batch as one block for each server. If ClickHouse refuses its data, inserts all rows except invalid ones,
 * which become dead letters. Throws an error that a retry may fix; then insert the same batch again: parts that are
 * stored are not sent again.
 */
export async function insertBatch(options: InsertOptions, batch: Batch): Promise<void> {
  const parts = batch.parts.filter(({ isStored, payloads }) => !isStored && payloads.length > 0)
  // All of them end before a retry begins.
  const outcomes = await Promise.allSettled(
    parts.map((part) =>
      onShard(options.clickhouse, part.shard, () => insertPart(options, batch, part)),
    ),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function insertPart(options: InsertOptions, batch: Batch, part: ShardPart): Promise<void> {
  try {
    await send(options, batch, part, part.payloads, batch.token)
  } catch (error) {
    if (!isDataError(error)) throw error
    await insertHalves(options, batch, part, part.payloads.flatMap(splitLines), 0)
  }
  part.isStored = true
}

/** Inserts the halves of refused lines; `from` is the first line's index in the part. */
async function insertHalves(
  options: InsertOptions,
  batch: Batch,
  part: ShardPart,
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

export function writeDeadLetter(
  {
    table,
    deadLetterDirectory,
    observe,
  }: Pick<InsertOptions, 'table' | 'deadLetterDirectory' | 'observe'>,
  batch: string,
  row: string,
  reason: string,
): void {
  appendDeadLetter(deadLetterDirectory, batch, { table, reason, row })
  observe.deadLetter(reason)
}

function send(
  { lease }: InsertOptions,
  { name }: Batch,
  part: ShardPart,
  payloads: Buffer[],
  token: string,
): Promise<void> {
  return part.clickhouse.insertLines(
    part.table,
    Readable.from(whileHeld(lease, payloads), { objectMode: false }),
    token,
    `${queryIdOf(name)}-${randomUUID()}`,
  )
}

/** Yields the payloads. Throws if the lease is lost: ClickHouse stores nothing of an incomplete insert. */
async function* whileHeld(
  lease: ShipLease | null,
  payloads: readonly Buffer[],
): AsyncGenerator<Buffer> {
  requireHeld(lease)
  for (const piece of piecesOf(payloads)) {
    yield piece
    requireHeld(lease)
  }
}

/** A piece costs as much as a hundred rows; the lease is checked between two. */
const pieceBytes = 256 * 1024

function* piecesOf(payloads: readonly Buffer[]): Generator<Buffer> {
  for (const payload of payloads)
    for (let at = 0; at < payload.length; at += pieceBytes)
      yield payload.subarray(at, at + pieceBytes)
}

function requireHeld(lease: ShipLease | null): void {
  if (lease && !lease.isHeld())
    throw new Error('the lease to ship was lost, possibly to another collector')
}

/**
 * Returns the prefix of the query ids of a batch's inserts, for ClickHouse's list of running queries; with
 * '' that of any insert.
 */
export const queryIdOf = (batch: string): string => `footfall-${batch.replace(/\.[a-z]+$/, '')}`

const receivedMarginMs = 300_000

/**
 * Returns the payloads without the lines that ClickHouse has, found by (spool_id, seq). For a batch that may have been
 * inserted: its process was killed during the insert, or ClickHouse crashed after it.
 */
export async function withoutStoredLines(
  clickhouse: ClickHouse,
  table: string,
  payloads: Buffer[],
): Promise<Buffer[]> {
  const lines = payloads.flatMap(splitLines)
  const bySpool = new Map<string, Buffer[]>()
  for (const line of lines) {
    const ofSpool = bySpool.get(spoolIdOf(line))
    if (ofSpool) ofSpool.push(line)
    else bySpool.set(spoolIdOf(line), [line])
  }
  const storedKeys = new Set<string>()
  for (const [spoolId, ofSpool] of bySpool)
    for (const seq of await storedSeqs(clickhouse, table, spoolId, ofSpool))
      storedKeys.add(`${spoolId} ${seq}`)
  if (storedKeys.size === 0) return payloads
  const missing = lines.filter((line) => !storedKeys.has(`${spoolIdOf(line)} ${seqOf(line)}`))
  return missing.length === 0 ? [] : [Buffer.concat(missing)]
}

async function storedSeqs(
  clickhouse: ClickHouse,
  table: string,
  spoolId: string,
  lines: readonly Buffer[],
): Promise<number[]> {
  const [first, last] = rangeOf(lines.map(seqOf))
  const [from, to] = rangeOf(lines.map((line) => Date.parse(receivedAtOf(line))))
  const stored = await clickhouse.rows<{ seq: number }>({
    sql: `SELECT seq FROM ${table}
          WHERE spool_id = {spoolId:UUID} AND seq BETWEEN {first:UInt64} AND {last:UInt64}
            AND received_at BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})`,
    params: { spoolId, first, last, from: from - receivedMarginMs, to: to + receivedMarginMs },
  })
  return stored.map(({ seq }) => Number(seq))
}

/** Returns the minimum and the maximum, without the argument limit of Math.min. */
const rangeOf = (values: readonly number[]): [least: number, most: number] => [
  values.reduce((least, value) => Math.min(least, value), Infinity),
  values.reduce((most, value) => Math.max(most, value), -Infinity),
]

/**
 * Whether any server still runs an insert whose query id begins with the prefix of one batch, or of all. All
 * servers are queried, because a server passes parts of an insert on to others.
 */
export async function isBeingInserted(
  { nodes }: Pick<ClickHouse, 'nodes'>,
  queryIdPrefix: string,
): Promise<boolean> {
  const running = await Promise.all(
    nodes.map((node) =>
      node.rows<{ queries: number }>({
        // A query from another server has a different current database.
        sql: `SELECT count() AS queries FROM system.processes
              WHERE startsWith(initial_query_id, {prefix:String})
                AND (current_database = currentDatabase() OR NOT is_initial_query)`,
        params: { prefix: queryIdPrefix },
      }),
    ),
  )
  return running.some(([node]) => node!.queries > 0)
}
