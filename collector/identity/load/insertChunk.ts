import { isUtf8 } from 'node:buffer'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { isDataError } from '../../platform/clickhouse/dataErrors.ts'
import { StartError } from '../../platform/startError.ts'
import type { Chunk } from './chunkReader.ts'
import { filterMalformed } from './filterMalformed.ts'
import { recordsOf } from './records.ts'
import type { RejectedRow } from './rejectedFile.ts'
import type { Source } from './source.ts'
import type { Stage } from './stage.ts'
import { inOrder, insertStatement, rejectStatement, type Shape } from './statements.ts'

export interface InsertChunkOptions {
  readonly clickhouse: ClickHouse
  readonly stage: Stage
  readonly source: Source
  readonly shape: Shape
  readonly ignoreUnknown: boolean
}

export interface InsertedChunk {
  readonly rows: number
  readonly rejected: readonly RejectedRow[]
}

/**
 * Inserts the valid rows of a chunk. It may be repeated, because the same rows replace each other. Throws
 * StartError if ClickHouse cannot read the chunk even without its invalid rows.
 */
export async function insertChunk(
  taking: InsertChunkOptions,
  chunk: Chunk,
): Promise<InsertedChunk> {
  const { source, shape, ignoreUnknown } = taking
  if (isText(source, chunk)) {
    try {
      return await insert(taking, chunk, chunk.bytes, null)
    } catch (error) {
      if (source.format === 'parquet' || !isDataError(error)) throw error
    }
  }
  const { bytes, lines, unreadable } = filterMalformed(
    chunk.bytes,
    source.format,
    shape.columns,
    ignoreUnknown,
  )
  const { rows, rejected } = await insert(taking, chunk, bytes, lines).catch((error) => {
    if (!isDataError(error)) throw error
    throw new StartError(
      `${source.name}, after line ${chunk.lines}: ${error.message.split('\n')[0]}`,
    )
  })
  const all = [
    ...rejected,
    ...unreadable.map(({ lines, reason, text }) => ({
      file: source.name,
      line: chunk.lines + lines + 1,
      reason,
      text,
    })),
  ]
  return { rows, rejected: all.sort((one, other) => one.line - other.line) }
}

/** ClickHouse would accept invalid UTF-8, and an unclosed last quote. */
const isText = ({ format }: Source, { bytes, isTorn }: Chunk): boolean =>
  format === 'parquet' || (!isTorn && isUtf8(bytes))

/** `lines` are the lines of the chunk before each row. Null: count them on demand. */
async function insert(
  { clickhouse, stage, source, shape, ignoreUnknown }: InsertChunkOptions,
  chunk: Chunk,
  bytes: Buffer,
  lines: readonly number[] | null,
): Promise<InsertedChunk> {
  const settings = { input_format_skip_unknown_fields: ignoreUnknown ? 1 : 0 }
  const fed = await clickhouse.feed(insertStatement(shape, stage.table), bytes, settings)
  const rows = fed.writtenRows / stage.countedAs
  if (fed.readRows === fed.writtenRows) return { rows, rejected: [] }

  await clickhouse.command({ sql: `TRUNCATE TABLE ${stage.rejected}`, params: {} })
  await clickhouse.feed(rejectStatement(shape, stage.rejected), bytes, { ...settings, ...inOrder })
  const refused = await clickhouse.rows<{ row: number; reason: string; record: string }>({
    sql: `SELECT row, reason, record FROM ${stage.rejected} ORDER BY row`,
    params: {},
  })
  const isNumbered = source.format === 'parquet'
  const before =
    lines ?? (isNumbered ? [] : [...recordsOf(bytes, source.format)].map((record) => record.lines))
  const rejected = refused.map(({ row, reason, record }) => ({
    file: source.name,
    line: isNumbered ? row + 1 : chunk.lines + before[row]! + 1,
    reason,
    record: withoutEmpty(JSON.parse(record)),
  }))
  return { rows, rejected }
}

/** Keeps only members with a value, because a line of JSON is read with all possible columns. */
const withoutEmpty = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '' && value !== null))
