import { type Field, hemAsNumber, isReadableAt, profileFields } from '../../../schemas/fields.ts'
import type { ClickHouse } from './client.ts'
import { normalForms } from './normalForm.ts'

/** Returns the members of a JSON object in the format of the API, each after a comma. */
function membersOf(fields: readonly Field[]): string {
  const names = fields.map(({ name }) => name).join(', ')
  return `concat(',', trim(BOTH '{}' FROM formatRowNoNewline('JSONEachRow', ${names})))`
}

/** Whether a member of a profile is in column `pte`; all others are in column `profile`. */
export const isPteField = (field: Field): boolean => isReadableAt(field, 'resolution_hem_pte')

/** Returns SQL that converts the profiles of `table` to rows of profile_rows. */
export const profileRowsOf = (table: string): string => `
  SELECT
    reinterpretAsUInt64(unhex(substring(hem, 1, 16))) AS hem_key,
    ${hemAsNumber('hem')} AS hem_number,
    ${membersOf(profileFields.filter(isPteField))} AS pte,
    ${membersOf(profileFields.filter((field) => !isPteField(field)))} AS profile,
    updated_at
  FROM ${table}
  SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0,
    output_format_json_escape_forward_slashes = 0`

/** The view that also writes each profile to profile_rows. */
const view = 'profile_rows_from_profiles'
const nextView = `${view}_next`

/**
 * Creates that view. If its fields have changed, a new view replaces it after all profiles are written again.
 * An interrupted start repeats this. Rows of the same hem replace each other, so repeated writes are
 * harmless.
 */
export async function syncProfileRows(clickhouse: ClickHouse): Promise<void> {
  const select = profileRowsOf(`${clickhouse.database}.profiles`)
  const [present] = await clickhouse.rows<{ as_select: string }>({
    sql: `SELECT as_select FROM system.tables WHERE database = currentDatabase() AND name = '${view}'`,
  })
  if (present) {
    const [wanted, found] = await normalForms(clickhouse, [select, present.as_select])
    if (wanted === found) return
  }
  for (const sql of [
    `DROP VIEW IF EXISTS ${nextView}`,
    `CREATE MATERIALIZED VIEW ${nextView} TO profile_rows AS ${select}`,
    `INSERT INTO profile_rows ${profileRowsOf('profiles')}`,
    `DROP VIEW IF EXISTS ${view}`,
    `RENAME TABLE ${nextView} TO ${view}`,
  ])
    await clickhouse.command({ sql })
}
