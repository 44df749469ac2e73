import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { receivedAtOf, seqOf, splitLines } from '../spool/rowFields.ts'

const receivedMarginMs = 300_000

/** Segments are called `<spool_id>.<first seq>.<state>`. */
export const spoolIdOf = (segment: string): string => segment.split('.')[0]!

/**
 * Returns the payloads without the lines that ClickHouse has, found by (spool_id, seq). For a segment that may have been
 * inserted: its process was killed during the insert, or ClickHouse crashed after it.
 */
export async function withoutStoredLines(
  clickhouse: ClickHouse,
  spoolId: string,
  payloads: Buffer[],
): Promise<Buffer[]> {
  const lines = payloads.flatMap(splitLines)
  const first = lines[0]
  const last = lines.at(-1)
  if (!first || !last) return []
  const stored = await clickhouse.rows<{ seq: number }>({
    sql: `SELECT seq FROM events
          WHERE spool_id = {spoolId:UUID} AND seq BETWEEN {first:UInt64} AND {last:UInt64}
            AND received_at BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})`,
    params: {
      spoolId,
      first: seqOf(first),
      last: seqOf(last),
      from: Date.parse(receivedAtOf(first)) - receivedMarginMs,
      to: Date.parse(receivedAtOf(last)) + receivedMarginMs,
    },
  })
  if (stored.length === 0) return payloads
  const present = new Set(stored.map(({ seq }) => Number(seq)))
  const missing = lines.filter((line) => !present.has(seqOf(line)))
  return missing.length === 0 ? [] : [Buffer.concat(missing)]
}

/**
 * True while any server still runs an insert whose query id begins with the prefix: one segment's, or with the prefix of
 * all, any segment's. Every server is asked, because one passes parts of an insert on to others.
 */
export async function isBeingInserted(
  { nodes }: ClickHouse,
  queryIdPrefix: string,
): Promise<boolean> {
  const running = await Promise.all(
    nodes.map((node) =>
      node.rows<{ queries: number }>({
        // A query that another server sent does not run in our current database.
        sql: `SELECT count() AS queries FROM system.processes
              WHERE startsWith(initial_query_id, {prefix:String})
                AND (current_database = currentDatabase() OR NOT is_initial_query)`,
        params: { prefix: queryIdPrefix },
      }),
    ),
  )
  return running.some(([node]) => node!.queries > 0)
}
