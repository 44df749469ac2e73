import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { isDataError } from '../../platform/clickhouse/dataErrors.ts'
import { splitLines } from '../spool/lines.ts'
import { keepDeadLetter } from './deadLetters.ts'
import type { Turn } from './turns.ts'

/** A segment as it will be inserted: decided once, so that every retry sends the same bytes. */
export interface Batch {
  /** The segment's file name. */
  name: string
  payloads: Buffer[]
  token: string
  /** Rows of the segment that ClickHouse has when this is inserted, those that it had before included. */
  rows: number
  /** When its first row was written, epoch milliseconds. */
  oldestAt: number
  /** Places of lines that are dead letters already. */
  refused: Set<number>
}

export interface InsertOptions {
  clickhouse: ClickHouse
  table: string
  deadLetterDirectory: string
  /** In which it is inserted, so never after it; null where collectors need not take turns. */
  turn: Turn | null
  observe: { deadLetter(reason: string): void }
}

/**
 * Inserts a batch as one block; where ClickHouse refuses its data, all of it but the rows at fault, which become dead
 * letters. Throws what is worth another try; then the batch can be inserted again as it is.
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

/** Inserts each half of lines that were refused together; `from` is their place in the batch. */
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
    const isBuried = part.length === 1 && batch.refused.has(at)
    if (part.length === 0 || isBuried) continue
    try {
      await send(options, batch, [Buffer.concat(part)], `${batch.token} ${at}+${part.length}`)
    } catch (error) {
      if (!isDataError(error)) throw error
      // The only line of a batch is halved into itself once.
      if (part.length > 1) await insertHalves(options, batch, part, at)
      else {
        bury(options, batch.name, part[0]!.toString().trimEnd(), error.message)
        batch.refused.add(at)
      }
    }
  }
}

/** Makes a row of a segment a dead letter. */
export function bury(
  {
    table,
    deadLetterDirectory,
    observe,
  }: Pick<InsertOptions, 'table' | 'deadLetterDirectory' | 'observe'>,
  segment: string,
  row: string,
  reason: string,
): void {
  keepDeadLetter(deadLetterDirectory, segment, { table, reason, row })
  observe.deadLetter(reason)
}

function send(
  { clickhouse, table, turn }: InsertOptions,
  { name }: Batch,
  payloads: Buffer[],
  token: string,
): Promise<void> {
  return clickhouse.insertLines(
    table,
    Readable.from(whileHeld(turn, payloads), { objectMode: false }),
    token,
    `${queryIdOf(name)}-${randomUUID()}`,
  )
}

/** The payloads, to the last of them only in our turn: without its end ClickHouse takes nothing of an insert. */
async function* whileHeld(turn: Turn | null, payloads: readonly Buffer[]): AsyncGenerator<Buffer> {
  requireHeld(turn)
  for (const piece of piecesOf(payloads)) {
    yield piece
    requireHeld(turn)
  }
}

/** What hands a piece on costs as much as a hundred rows. */
const pieceBytes = 256 * 1024

/** The same bytes in pieces. */
function* piecesOf(payloads: readonly Buffer[]): Generator<Buffer> {
  for (const payload of payloads)
    for (let at = 0; at < payload.length; at += pieceBytes)
      yield payload.subarray(at, at + pieceBytes)
}

function requireHeld(turn: Turn | null): void {
  if (turn && !turn.isHeld())
    throw new Error('the turn to ship was lost, to another collector perhaps')
}

/** What the ids of all inserts of a segment begin with, in ClickHouse's list of running queries. */
export const queryIdOf = (segment: string): string => `footfall-${segment.replace(/\.[a-z]+$/, '')}`
