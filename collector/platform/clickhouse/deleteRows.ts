import type { ClickHouse, Query } from './client.ts'
import { partsOf } from './cluster.ts'

/**
 * Deletes the rows that `condition` says (its sql is what would stand after WHERE; of events it names no other table), on every shard
 * that has some, in the background unless `settings` say otherwise. True when there was something to delete. While the
 * table still carries out another deletion nothing is begun: ask again later.
 */
export async function deleteRows(
  clickhouse: ClickHouse,
  table: string,
  condition: Query,
  settings = '',
): Promise<boolean> {
  const parts = partsOf(clickhouse, table)
  const left = await Promise.all(
    parts.map((part) => deleteRowsOf(part.shard, part.table, condition, settings)),
  )
  return left.includes(true)
}

async function deleteRowsOf(
  clickhouse: ClickHouse,
  table: string,
  condition: Query,
  settings: string,
): Promise<boolean> {
  const [state] = await clickhouse.rows<{ is_left: 0 | 1; is_running: 0 | 1 }>({
    sql: `
      SELECT
        (SELECT count() FROM (SELECT 1 FROM ${table} WHERE ${condition.sql} LIMIT 1)) AS is_left,
        (SELECT count() > 0 FROM system.mutations
         WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done) AS is_running`,
    params: { ...condition.params, table },
  })
  if (!state!.is_left) return false
  if (!state!.is_running) {
    await clickhouse.command({
      sql: `ALTER TABLE ${table} DELETE WHERE ${condition.sql} ${settings}`,
      params: condition.params,
    })
  }
  return true
}
