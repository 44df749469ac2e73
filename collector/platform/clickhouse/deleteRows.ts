import type { ClickHouse, Query } from './client.ts'
import { partsOf } from './cluster.ts'

/**
 * Deletes the rows that match `condition`, the SQL after WHERE, on every shard that has matching rows.
 * `condition` must not name another table for events. The deletion runs in the background unless `settings`
 * differ. Returns true if there were rows to delete. If another deletion of the table is running, this call
 * deletes nothing: call it again later.
 */
export async function deleteRows(
  clickhouse: ClickHouse,
  table: string,
  condition: Query,
  settings = '',
): Promise<boolean> {
  const parts = partsOf(clickhouse, table)
  const left = await Promise.all(
    parts.map((part) => deleteRowsOfServer(part.shard, part.table, condition, settings)),
  )
  return left.includes(true)
}

/** The same for one server. */
async function deleteRowsOfServer(
  clickhouse: ClickHouse,
  table: string,
  condition: Query,
  settings = '',
): Promise<boolean> {
  const left = await clickhouse.rows({
    sql: `SELECT 1 AS is_left FROM ${table} WHERE ${condition.sql} LIMIT 1`,
    params: condition.params,
  })
  if (left.length === 0) return false
  const running = await clickhouse.rows({
    sql: `SELECT 1 AS is_running FROM system.mutations
          WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done LIMIT 1`,
    params: { table },
  })
  if (running.length === 0) await clickhouse.command(deletionQuery(table, condition, settings))
  return true
}

export const deletionQuery = (table: string, { sql, params }: Query, settings = ''): Query => ({
  sql: `ALTER TABLE ${table} DELETE WHERE ${sql}${settings && `\n${settings}`}`,
  params,
})
