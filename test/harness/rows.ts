import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'

/** Stores rows as the shipper would. */
export async function insertRows(
  clickhouse: ClickHouse,
  table: string,
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await clickhouse.insertLines(table, Readable.from([lines], { objectMode: false }), randomUUID())
}
