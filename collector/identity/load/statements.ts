/** The statements that convert the rows of a file to rows of a table. */
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Column } from './mapping.ts'
import type { Format } from './source.ts'
import type { Target } from './targets.ts'
import type { Value } from './valuesSql.ts'

export interface Shape {
  readonly target: Target
  readonly format: Format
  /** All columns of the file, in its order; the loaded columns are among them. */
  readonly columns: readonly string[]
  readonly chosen: readonly Column[]
  /** Values for all rows: the time when the load began (ISO), and their owner. */
  readonly params: { readonly started: string; readonly organization: string }
}

const formatNames: Readonly<Record<Format, string>> = {
  csv: 'CSV',
  ndjson: 'JSONEachRow',
  parquet: 'Parquet',
}

/** Returns the statement that inserts valid rows into `table`, which has the structure of the target's. */
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

/** Inserts invalid rows into `table`: the position from 0, the first reason, the row as JSON. */
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

/** Row positions are correct only if one thread reads the rows in order. */
export const inOrder = { max_threads: 1, input_format_parallel_parsing: 0 }

function valuesOf({ target, format, chosen }: Shape): Value[] {
  const columns = new Map(chosen.map(({ column, field }) => [field, identifier(column)]))
  return target.values((field) => {
    const column = columns.get(field)
    if (column === undefined) return null
    return format === 'parquet' ? `ifNull(${column}, '')` : column
  })
}

/** Parquet's null stays null only in a Nullable column; otherwise a number would become 0. */
function paramsOf({ format, columns, params }: Shape): Query['params'] {
  const type = format === 'parquet' ? 'Nullable(String)' : 'String'
  return {
    ...params,
    structure: columns.map((column) => `${identifier(column)} ${type}`).join(', '),
  }
}

const identifier = (name: string): string =>
  `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
