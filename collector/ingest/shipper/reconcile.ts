import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { receivedAtOf, seqOf, splitLines } from '../spool/lines.ts'

const receivedMarginMs = 300_000

/** Segments are called `<spool_id>.<first seq>.<state>`. */
export const spoolIdOf = (segment: string): string => segment.split('.')[0]!

/**
 * Takes out the lines of a segment that ClickHouse has, found by their place in the spool. For a segment of which
 * nobody knows whether it was inserted: its process was killed, or ClickHouse crashed after it.
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
 * True while ClickHouse still works on an insert, begun by a process that is gone: of a segment, or of any. What one
 * server was given, others may still work on, so all of them are asked.
 */
export async function isBeingInserted(
  { nodes }: ClickHouse,
  queryIdPrefix: string,
): Promise<boolean> {
  const running = await Promise.all(
    nodes.map((node) =>
      node.rows<{ queries: number }>({
        // What another server asks for is in no database of its own.
        sql: `SELECT count() AS queries FROM system.processes
              WHERE startsWith(initial_query_id, {prefix:String})
                AND (current_database = currentDatabase() OR NOT is_initial_query)`,
        params: { prefix: queryIdPrefix },
      }),
    ),
  )
  return running.some(([node]) => node!.queries > 0)
}
