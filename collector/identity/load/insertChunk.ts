import { isUtf8 } from 'node:buffer'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { isDataError } from '../../platform/clickhouse/dataErrors.ts'
import { StartError } from '../../platform/startError.ts'
import type { Chunk } from './chunkReader.ts'
import { recordsOf } from './records.ts'
import type { RejectedRow } from './rejectedFile.ts'
import type { Format, Source } from './source.ts'
import type { Stage } from './stage.ts'
import { inOrder, insertStatement, rejectStatement, type Shape } from './statements.ts'

interface InsertChunkOptions {
  readonly clickhouse: ClickHouse
  readonly stage: Stage
  readonly source: Source
  readonly shape: Shape
  readonly ignoreUnknown: boolean
}

interface InsertedChunk {
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

  await clickhouse.command({ sql: `TRUNCATE TABLE ${stage.rejected}` })
  await clickhouse.feed(rejectStatement(shape, stage.rejected), bytes, { ...settings, ...inOrder })
  const refused = await clickhouse.rows<{ row: number; reason: string; record: string }>({
    sql: `SELECT row, reason, record FROM ${stage.rejected} ORDER BY row`,
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

interface Malformed {
  /** Number of lines of the chunk before the record. */
  readonly lines: number
  readonly reason: string
  readonly text: string
}

interface Filtered {
  /** The readable records. */
  readonly bytes: Buffer
  /** Number of lines of the chunk before each record. */
  readonly lines: readonly number[]
  readonly unreadable: readonly Malformed[]
}

const textMax = 10_000

/** Tests one record at a time, which is slow: only for chunks that ClickHouse refused. */
export function filterMalformed(
  bytes: Buffer,
  format: Format,
  columns: readonly string[],
  ignoreUnknown: boolean,
): Filtered {
  const faultOf = format === 'csv' ? csvFault(columns.length) : jsonFault(columns, ignoreUnknown)
  const kept: Buffer[] = []
  const lines: number[] = []
  const unreadable: Malformed[] = []
  for (const { start, end, lines: before, isWhole } of recordsOf(bytes, format)) {
    const record = bytes.subarray(start, end)
    const text = record.toString('utf8').trimEnd()
    const reason = !isUtf8(record) ? 'not UTF-8' : isWhole ? faultOf(text) : 'a quote is not closed'
    if (reason) unreadable.push({ lines: before, reason, text: text.slice(0, textMax) })
    else {
      kept.push(record)
      lines.push(before)
    }
  }
  return { bytes: Buffer.concat(kept), lines, unreadable }
}

/** A field in ClickHouse's CSV: quoted, or without a quote at its beginning. */
const csvField = /[ \t]*"[^"]*(?:""[^"]*)*"[ \t]*|[^",\r\n][^,\r\n]*|/y

const csvFault =
  (columns: number) =>
  (text: string): string | null => {
    let fields = 0
    for (let at = 0; at <= text.length; at++) {
      csvField.lastIndex = at
      at += csvField.exec(text)?.[0].length ?? 0
      fields++
      if (at < text.length && text[at] !== ',')
        return 'a closed quote must be followed by a separator or the line end'
    }
    return fields === columns ? null : `${fields} fields instead of ${columns}`
  }

function jsonFault(columns: readonly string[], ignoreUnknown: boolean) {
  const known = new Set(columns)
  return (text: string): string | null => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return `not JSON: ${(error as Error).message}`
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return 'not a JSON object'
    const unknown = Object.keys(value).find((key) => !known.has(key))
    return unknown === undefined || ignoreUnknown ? null : `no field is named "${unknown}"`
  }
}
