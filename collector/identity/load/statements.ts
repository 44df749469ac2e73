/** The statements that take rows of a file in: texts of the file in, rows of a table out. */
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Column } from './mapping.ts'
import type { Format } from './source.ts'
import type { Target } from './targets.ts'
import type { Value } from './valuesSql.ts'

/** A file as ClickHouse reads it. */
export interface Shape {
  readonly target: Target
  readonly format: Format
  /** All columns that it is read with, in the order of the file; those that are loaded are among them. */
  readonly columns: readonly string[]
  readonly chosen: readonly Column[]
  /** Of the rows: when the load began, as ISO time, and whose they are. */
  readonly params: { readonly started: string; readonly organization: string }
}

const formatNames: Readonly<Record<Format, string>> = {
  csv: 'CSV',
  ndjson: 'JSONEachRow',
  parquet: 'Parquet',
}

/** Inserts the rows that can be taken into `table`, which is like the target's. */
export function insertStatement(shape: Shape, table: string): Query {
  const values = valuesOf(shape)
  const wrong = values.flatMap((value) => value.wrong?.when ?? [])
  return {
    sql: `
      INSERT INTO ${table} (${values.map(({ column }) => column).join(', ')})
      SELECT ${values.map(({ sql }) => sql).join(', ')}
      FROM input({structure:String})
      WHERE NOT (${wrong.join(' OR ')})
      FORMAT ${formatNames[shape.format]}`,
    params: paramsOf(shape),
  }
}

/** Inserts the others into `table`: the row's place from 0, the first reason, and the row as JSON. */
export function rejectStatement(shape: Shape, table: string): Query {
  const wrong = valuesOf(shape).flatMap((value) => value.wrong ?? [])
  const cases = wrong.map(({ when, reason }) => `${when}, ${reason}`).join(', ')
  return {
    sql: `
      INSERT INTO ${table} (row, reason, record)
      SELECT * FROM (
        SELECT rowNumberInAllBlocks() AS _row, multiIf(${cases}, '') AS _reason,
          formatRowNoNewline('JSONEachRow', ${shape.columns.map(identifier).join(', ')}) AS _record
        FROM input({structure:String})
      ) WHERE _reason != ''
      FORMAT ${formatNames[shape.format]}`,
    params: paramsOf(shape),
  }
}

/** A row's place is counted only when one thread reads them one after the other. */
export const inOrder = { max_threads: 1, input_format_parallel_parsing: 0 }

function valuesOf({ target, format, chosen }: Shape): Value[] {
  const columns = new Map(chosen.map(({ column, field }) => [field, identifier(column)]))
  return target.values((field) => {
    const column = columns.get(field)
    if (column === undefined) return null
    return format === 'parquet' ? `ifNull(${column}, '')` : column
  })
}

/** A null of Parquet stays one only in a column that may have them; else a number's is 0. */
function paramsOf({ format, columns, params }: Shape): Query['params'] {
  const type = format === 'parquet' ? 'Nullable(String)' : 'String'
  return {
    ...params,
    structure: columns.map((column) => `${identifier(column)} ${type}`).join(', '),
  }
}

/** A foreign name as SQL. */
const identifier = (name: string): string =>
  `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
