import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { isDataError } from '../../platform/clickhouse/dataErrors.ts'
import type { ShipLease } from '../log/eventLog.ts'
import { splitLines } from '../spool/rowFields.ts'
import { appendDeadLetter } from './deadLetters.ts'

/** A segment as it will be inserted: decided once, so that every retry sends the same bytes. */
export interface Batch {
  /** Names it in queries and dead letters. */
  name: string
  payloads: Buffer[]
  token: string
  /** Rows of the segment that ClickHouse has after the insert, including those that it had before. */
  rows: number
  /** When its first row was written, epoch milliseconds. */
  oldestAt: number
  /** Places, in the batch, of lines that are dead letters already. */
  refused: Set<number>
}

export interface InsertOptions {
  clickhouse: ClickHouse
  table: string
  deadLetterDirectory: string
  /** The lease under which it is inserted; null for tables that need none. */
  lease: ShipLease | null
  observe: { deadLetter(reason: string): void }
}

/**
 * Inserts a batch as one block. If ClickHouse refuses its data, inserts everything except the invalid rows, which
 * become dead letters. Throws an error that a retry may pass; then insert the same batch again.
 */
export async function insertBatch(options: InsertOptions, batch: Batch): Promise<void> {
  if (batch.payloads.length === 0) return
  try {
    await send(options, batch, batch.payloads, batch.token)
  } catch (error) {
    if (!isDataError(error)) throw error
    await insertHalves(options, batch, batch.payloads.flatMap(splitLines), 0)
  }
}

/** Inserts the two halves of lines that ClickHouse refused together; `from` is the place of the first in the batch. */
async function insertHalves(
  options: InsertOptions,
  batch: Batch,
  lines: Buffer[],
  from: number,
): Promise<void> {
  const middle = Math.ceil(lines.length / 2)
  for (const [part, at] of [
    [lines.slice(0, middle), from],
    [lines.slice(middle), from + middle],
  ] as const) {
    const isDeadLetter = part.length === 1 && batch.refused.has(at)
    if (part.length === 0 || isDeadLetter) continue
    try {
      await send(options, batch, [Buffer.concat(part)], `${batch.token} ${at}+${part.length}`)
    } catch (error) {
      if (!isDataError(error)) throw error
      // A batch of a single line comes here with itself as the first half.
      if (part.length > 1) await insertHalves(options, batch, part, at)
      else {
        writeDeadLetter(options, batch.name, part[0]!.toString().trimEnd(), error.message)
        batch.refused.add(at)
      }
    }
  }
}

/** Makes a row of a segment a dead letter. */
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
  { clickhouse, table, lease }: InsertOptions,
  { name }: Batch,
  payloads: Buffer[],
  token: string,
): Promise<void> {
  return clickhouse.insertLines(
    table,
    Readable.from(whileHeld(lease, payloads), { objectMode: false }),
    token,
    `${queryIdOf(name)}-${randomUUID()}`,
  )
}

/** The payloads. Throws once the lease is lost: ClickHouse stores nothing of an insert whose end is missing. */
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

/** Passing a piece on costs as much as a hundred rows, so pieces are large; between two the lease is checked. */
const pieceBytes = 256 * 1024

/** The same bytes in pieces. */
function* piecesOf(payloads: readonly Buffer[]): Generator<Buffer> {
  for (const payload of payloads)
    for (let at = 0; at < payload.length; at += pieceBytes)
      yield payload.subarray(at, at + pieceBytes)
}

function requireHeld(lease: ShipLease | null): void {
  if (lease && !lease.isHeld())
    throw new Error('the lease to ship was lost, possibly to another collector')
}

/** The prefix of the query ids of all inserts of a segment, in ClickHouse's list of running queries; of '' any insert. */
export const queryIdOf = (segment: string): string => `footfall-${segment.replace(/\.[a-z]+$/, '')}`
