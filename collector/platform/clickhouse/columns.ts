import type { Field } from '../../../schemas/fields.ts'
import type { ClickHouse } from './client.ts'
import { normalForms } from './normalForm.ts'

export const columnDefinition = ({ name, columnType, alias, materialized }: Field): string => {
  const computed = alias ? ` ALIAS ${alias}` : materialized ? ` MATERIALIZED ${materialized}` : ''
  return `${name} ${columnType}${computed}`
}

/**
 * Updates a table from any release to the field table: adds missing columns and replaces outdated expressions
 * of computed columns.
 */
export async function syncColumns(
  clickhouse: ClickHouse,
  table: string,
  fields: readonly Field[],
): Promise<void> {
  const columns = await clickhouse.rows<{ name: string; expression: string }>({
    sql: `SELECT name, default_expression AS expression FROM system.columns
          WHERE database = currentDatabase() AND table = {table:String}`,
    params: { table },
  })
  const present = new Map(columns.map(({ name, expression }) => [name, expression]))
  for (const field of fields) {
    if (present.has(field.name)) continue
    await clickhouse.command({
      sql: `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${columnDefinition(field)}`,
    })
  }
  const computed = fields.filter(
    (field) => present.has(field.name) && (field.alias ?? field.materialized),
  )
  for (const field of await otherThan(clickhouse, computed, present)) {
    await clickhouse.command({
      sql: `ALTER TABLE ${table} MODIFY COLUMN ${columnDefinition(field)}`,
    })
  }
}

/**
 * Returns the computed fields whose columns have an outdated expression. ClickHouse adds the database to the
 * names of dictionaries.
 */
async function otherThan(
  clickhouse: ClickHouse,
  fields: readonly Field[],
  present: ReadonlyMap<string, string>,
): Promise<readonly Field[]> {
  const forms = await normalForms(clickhouse, [
    ...fields.map(({ alias, materialized }) => `SELECT ${alias ?? materialized}`),
    ...fields.map(
      ({ name }) => `SELECT ${present.get(name)!.replaceAll(`'${clickhouse.database}.`, "'")}`,
    ),
  ])
  return fields.filter((_, index) => forms[index] !== forms[fields.length + index])
}
