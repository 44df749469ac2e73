import {
  type DataType,
  type Field,
  fieldNamed,
  fieldSql,
  isProfileField,
} from '../../../schemas/fields.ts'
import type { SampleNames } from '../../api/access/sandboxTenant.ts'
import type { Bind } from './bind.ts'
import type { Source } from './source.ts'

export interface Column {
  name: string
  sql: string
}

/** Events of pixels have every value, so their columns need no expression. */
export const columnsFrom = (
  source: Source | null,
  columns: readonly Column[],
): readonly Column[] =>
  source === 'pixel'
    ? columns
    : columns.map((column) => {
        const field = column.sql === column.name ? fieldNamed(column.name) : undefined
        return field ? { name: column.name, sql: fieldSql(field) } : column
      })

export const selectList = (columns: readonly Column[]): string =>
  columns.map(({ name, sql }) => (sql === name ? name : `${sql} AS ${name}`)).join(', ')

/** Whether a field is Utf8 for callers and a UUID in ClickHouse. */
export const isUuidField = (field: Field): boolean => /^(Nullable\()?UUID\b/.test(field.columnType)

/** ClickHouse types of the API's types. ClickHouse converts them to the types of each format. */
const types: Record<DataType, string> = {
  Utf8: 'String',
  Int64: 'Int64',
  Float64: 'Float64',
  Boolean: 'Bool',
  Timestamp: "DateTime64(3, \\'UTC\\')",
}

export type ValueSql = (field: Field, sql: string) => string

/**
 * Creates SQL of values in the types of the schema routes, independent of their storage. `names` maps ids to
 * the ids in the response, because the bytes of a table cannot be changed later.
 */
export function typedColumns(names: SampleNames | null | undefined, bind: Bind): ValueSql {
  const renamed =
    names && names.size > 0
      ? `${bind('Array(String)', [...names.keys()])}, ${bind('Array(String)', [...names.values()])}`
      : null
  return (field, sql) => {
    const { dataType, nullable } = field
    // Profiles are JSON, in which times are texts.
    if (dataType === 'Timestamp' && isProfileField(field))
      return `parseDateTime64BestEffortOrNull(${sql}, 3, 'UTC')`
    const type = types[dataType]
    const value = `CAST(${sql}, '${nullable ? `Nullable(${type})` : type}')`
    return renamed && isUuidField(field) ? `transform(${value}, ${renamed}, ${value})` : value
  }
}
