/** Rows of lists in ClickHouse. */
import { isUuid } from '../../../schemas/uuid.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { columnOf, type Kind } from './kinds.ts'
import type { Reason } from './reasons.ts'

const tables = ['list_members', 'list_rejected_lines'] as const

/** Drops all rows of a list with its partition. */
export async function dropRows(clickhouse: ClickHouse, listId: string): Promise<void> {
  // A partition's name cannot be bound.
  if (!isUuid(listId)) throw new Error(`${listId} is no list`)
  for (const table of tables)
    await clickhouse.command({ sql: `ALTER TABLE ${table} DROP PARTITION '${listId}'` })
}

export async function deleteImportRows(
  clickhouse: ClickHouse,
  listId: string,
  importId: string,
): Promise<void> {
  for (const table of tables) {
    await clickhouse.command({
      sql: `DELETE FROM ${table} WHERE list_id = {listId:UUID} AND import_id = {importId:UUID}`,
      params: { listId, importId },
    })
  }
}

export async function readStoredLists(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ partition: string }>({
    sql: `SELECT DISTINCT partition FROM system.parts
          WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND active`,
    params: { tables },
  })
  return rows.map(({ partition }) => partition)
}

/** Returns the number of a list's members; imports that are not completed do not count. */
export async function countMembers(
  clickhouse: ClickHouse,
  { listId, kind, notCompleted }: { listId: string; kind: Kind; notCompleted: readonly string[] },
): Promise<number> {
  const [row] = await clickhouse.rows<{ count: number }>({
    sql: `SELECT count() AS count FROM (
            SELECT ${columnOf[kind]} AS member FROM list_members
            WHERE list_id = {listId:UUID} AND import_id NOT IN {notCompleted:Array(UUID)} GROUP BY member)
          SETTINGS max_bytes_before_external_group_by = ${256 * 1024 ** 2}`,
    params: { listId, notCompleted },
  })
  return row!.count
}

/** Returns lines that an import rejected, from the line after `after` on. */
export async function readRejected(
  clickhouse: ClickHouse,
  {
    listId,
    importId,
    after,
    limit,
  }: { listId: string; importId: string; after: number; limit: number },
): Promise<{ line: number; reason: Reason }[]> {
  return clickhouse.rows({
    sql: `SELECT line, reason FROM list_rejected_lines FINAL
          WHERE list_id = {listId:UUID} AND import_id = {importId:UUID} AND line > {after:UInt64}
          ORDER BY line LIMIT {limit:UInt32}`,
    params: { listId, importId, after, limit },
  })
}
