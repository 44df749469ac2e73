import { hemAsNumber } from '../../../schemas/fields.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'

/**
 * Deletes the operator's signals of people. Returns true while some may remain. The table by person finds
 * them at once, so it is read first and cleared last.
 */
export async function eraseSignals(
  clickhouse: ClickHouse,
  hems: readonly string[],
): Promise<boolean> {
  if (hems.length === 0) return false
  const numbers = `arrayMap(hem -> ${hemAsNumber('hem')}, {hems:Array(String)})`
  const byPerson: Query = {
    sql: `hem_key IN arrayMap(number -> toUInt64(number), ${numbers}) AND hem_number IN ${numbers}`,
    params: { hems },
  }
  const [found] = await clickhouse.rows<{ any: boolean }>({
    sql: `SELECT toBool(count() > 0) AS any FROM intent_signals_by_person WHERE ${byPerson.sql}`,
    params: byPerson.params,
  })
  if (!found!.any) return false
  const isLeft = await deleteRows(clickhouse, 'intent_signals', {
    sql: `hem_number IN ${numbers}`,
    params: { hems },
  })
  return isLeft || deleteRows(clickhouse, 'intent_signals_by_person', byPerson)
}
