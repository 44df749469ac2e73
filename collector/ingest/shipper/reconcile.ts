import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { receivedAtOf, seqOf, splitLines, spoolIdOf } from '../spool/rowFields.ts'

const receivedMarginMs = 300_000

/**
 * Returns the payloads without the lines that ClickHouse has, found by (spool_id, seq). For a batch that may have been
 * inserted: its process was killed during the insert, or ClickHouse crashed after it.
 */
export async function withoutStoredLines(
  clickhouse: ClickHouse,
  table: string,
  payloads: Buffer[],
): Promise<Buffer[]> {
  const lines = payloads.flatMap(splitLines)
  const bySpool = new Map<string, Buffer[]>()
  for (const line of lines) {
    const ofSpool = bySpool.get(spoolIdOf(line))
    if (ofSpool) ofSpool.push(line)
    else bySpool.set(spoolIdOf(line), [line])
  }
  const present = new Set<string>()
  for (const [spoolId, ofSpool] of bySpool)
    for (const seq of await storedSeqs(clickhouse, table, spoolId, ofSpool))
      present.add(`${spoolId} ${seq}`)
  if (present.size === 0) return payloads
  const missing = lines.filter((line) => !present.has(`${spoolIdOf(line)} ${seqOf(line)}`))
  return missing.length === 0 ? [] : [Buffer.concat(missing)]
}

/** Returns which seqs of these lines of one spool ClickHouse has. */
async function storedSeqs(
  clickhouse: ClickHouse,
  table: string,
  spoolId: string,
  lines: readonly Buffer[],
): Promise<number[]> {
  const seqs = lines.map(seqOf)
  const times = lines.map((line) => Date.parse(receivedAtOf(line)))
  const stored = await clickhouse.rows<{ seq: number }>({
    sql: `SELECT seq FROM ${table}
          WHERE spool_id = {spoolId:UUID} AND seq BETWEEN {first:UInt64} AND {last:UInt64}
            AND received_at BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})`,
    params: {
      spoolId,
      first: leastOf(seqs),
      last: -leastOf(seqs.map((seq) => -seq)),
      from: leastOf(times) - receivedMarginMs,
      to: -leastOf(times.map((time) => -time)) + receivedMarginMs,
    },
  })
  return stored.map(({ seq }) => Number(seq))
}

/** Returns the minimum, without the argument limit of Math.min. */
const leastOf = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Infinity)

/**
 * Whether any server still runs an insert whose query id begins with the prefix of one batch, or of all. All
 * servers are queried, because a server passes parts of an insert on to others.
 */
export async function isBeingInserted(
  { nodes }: Pick<ClickHouse, 'nodes'>,
  queryIdPrefix: string,
): Promise<boolean> {
  const running = await Promise.all(
    nodes.map((node) =>
      node.rows<{ queries: number }>({
        // A query from another server has a different current database.
        sql: `SELECT count() AS queries FROM system.processes
              WHERE startsWith(initial_query_id, {prefix:String})
                AND (current_database = currentDatabase() OR NOT is_initial_query)`,
        params: { prefix: queryIdPrefix },
      }),
    ),
  )
  return running.some(([node]) => node!.queries > 0)
}
