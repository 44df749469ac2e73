import { eventColumns, type Field, isReadableAt, profileFields } from '../../../schemas/fields.ts'
import type { ClickHouse } from './client.ts'

/** A field as a table declares it. */
export const columnDefinition = ({ name, columnType, alias, materialized }: Field): string => {
  const computed = alias ? ` ALIAS ${alias}` : materialized ? ` MATERIALIZED ${materialized}` : ''
  return `${name} ${columnType}${computed}`
}

/**
 * Brings the tables in line with the field table, whatever release made them: adds a column for every field that
 * they lack, mends computed columns whose expression is another now, and writes the rows of profile_rows anew when
 * the fields of a profile have changed.
 */
export async function syncColumns(clickhouse: ClickHouse): Promise<void> {
  await addColumns(clickhouse, 'events', eventColumns)
  await mendComputed(clickhouse, eventColumns)
  await addColumns(clickhouse, 'profiles', profileFields)
  await syncProfileRows(clickhouse)
}

async function addColumns(clickhouse: ClickHouse, table: string, fields: readonly Field[]): Promise<void> {
  const present = new Set((await columnsOf(clickhouse, table)).map(({ name }) => name))
  for (const field of fields) {
    if (present.has(field.name)) continue
    await clickhouse.command({
      sql: `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${columnDefinition(field)}`,
      params: {},
    })
  }
}

/** Expressions are compared in the form in which ClickHouse keeps them. */
async function mendComputed(clickhouse: ClickHouse, fields: readonly Field[]): Promise<void> {
  const kept = new Map(
    (await columnsOf(clickhouse, 'events')).map(({ name, expression }) => [name, expression]),
  )
  for (const field of fields) {
    const computed = field.alias ?? field.materialized
    if (!computed) continue
    const [wanted] = await clickhouse.rows<{ expression: string }>({
      sql: "SELECT replaceOne(formatQuerySingleLine({query:String}), 'SELECT ', '') AS expression",
      params: { query: `SELECT ${computed}` },
    })
    if (kept.get(field.name) === wanted!.expression) continue
    await clickhouse.command({
      sql: `ALTER TABLE events MODIFY COLUMN ${columnDefinition(field)}`,
      params: {},
    })
  }
}

const columnsOf = (clickhouse: ClickHouse, table: string) =>
  clickhouse.rows<{ name: string; expression: string }>({
    sql: `SELECT name, default_expression AS expression FROM system.columns
          WHERE database = currentDatabase() AND table = {table:String}`,
    params: { table },
  })

/** The view that writes every profile into profile_rows, too. */
const rowsView = 'profile_rows_from_profiles'

/**
 * Makes that view. Its comment says which fields it writes: when they are others now, it is made anew and all
 * profiles are written once more; rows of the same hem replace each other, so it may be done twice.
 */
async function syncProfileRows(clickhouse: ClickHouse): Promise<void> {
  const names = profileFields.map(({ name }) => name).join(' ')
  const [view] = await clickhouse.rows<{ comment: string }>({
    sql: `SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = '${rowsView}'`,
    params: {},
  })
  if (view?.comment === names) return
  if (view) await clickhouse.command({ sql: `DROP VIEW IF EXISTS ${rowsView}`, params: {} })
  await clickhouse.command({
    sql: `CREATE MATERIALIZED VIEW IF NOT EXISTS ${rowsView} TO profile_rows AS ${profileRowsOf('profiles')} COMMENT '${names}'`,
    params: {},
  })
  await clickhouse.command({ sql: `INSERT INTO profile_rows ${profileRowsOf('profiles')}`, params: {} })
}

/** Members of a JSON object, each with a comma in front, as the API writes them. */
function membersOf(fields: readonly Field[]): string {
  const names = fields.map(({ name }) => name).join(', ')
  return `concat(',', trim(BOTH '{}' FROM formatRowNoNewline('JSONEachRow', ${names})))`
}

const isPte = (field: Field) => isReadableAt(field, 'resolution_hem_pte')

/** SQL: the rows of profile_rows that the profiles of `table` make. */
export const profileRowsOf = (table: string): string => `
  SELECT
    reinterpretAsUInt64(unhex(substring(hem, 1, 16))) AS hem_key,
    reinterpretAsUInt256(unhex(hem)) AS hem_number,
    ${membersOf(profileFields.filter(isPte))} AS pte,
    ${membersOf(profileFields.filter((field) => !isPte(field)))} AS profile,
    updated_at
  FROM ${table}
  SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0,
    output_format_json_escape_forward_slashes = 0`
