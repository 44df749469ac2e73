import { type DataType, type Field, isProfileField } from '../../../schemas/fields.ts'
import type { SampleNames } from '../../api/access/sandboxTenant.ts'
import type { Bind } from './bind.ts'
import { isUuidField } from './uuid.ts'

/** What the types of the API are in ClickHouse, which makes of them what formats with types call so. */
const types: Record<DataType, string> = {
  Utf8: 'String',
  Int64: 'Int64',
  Float64: 'Float64',
  Boolean: 'Bool',
  Timestamp: "DateTime64(3, \\'UTC\\')",
}

/** SQL of a field's value. */
export type ValueSql = (field: Field, sql: string) => string

/**
 * Makes SQL of values in the types that schema routes tell, whatever they are stored as. `names` are the ids that rows
 * show in the place of others: nobody can put them into the bytes of a table later.
 */
export function typedColumns(names: SampleNames | null | undefined, bind: Bind): ValueSql {
  const renamed =
    names && names.size > 0
      ? `${bind('Array(String)', [...names.keys()])}, ${bind('Array(String)', [...names.values()])}`
      : null
  return (field, sql) => {
    const { dataType, nullable } = field
    // Profiles are JSON, which has texts for times.
    if (dataType === 'Timestamp' && isProfileField(field))
      return `parseDateTime64BestEffortOrNull(${sql}, 3, 'UTC')`
    const type = types[dataType]
    const value = `CAST(${sql}, '${nullable ? `Nullable(${type})` : type}')`
    return renamed && isUuidField(field) ? `transform(${value}, ${renamed}, ${value})` : value
  }
}
