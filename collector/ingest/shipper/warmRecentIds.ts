import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { partsOf } from '../../platform/clickhouse/cluster.ts'
import { idWordsAt, nextLineAt } from '../spool/rowFields.ts'
import { BloomFilter, hashId } from './bloomFilter.ts'

/**
 * Reading more ids would take longer than queries for the arriving ones. A filter's slice holds twice as
 * many.
 */
const idsMax = 2_000_000
const everything: Query = { sql: 'true', params: {} }
const timeoutMs = 10_000
const newline = 0x0a

/**
 * Returns a filter with the ids of all stored events received since a time, epoch milliseconds. So a new
 * shipper does not query for each id. Null if there are too many. Call it only when no earlier insert is
 * running.
 */
export async function warmRecentIds(
  clickhouse: ClickHouse,
  since: number,
  { condition = everything, sliceIds }: { condition?: Query; sliceIds?: number } = {},
): Promise<BloomFilter | null> {
  const seen = new BloomFilter(since, sliceIds)
  let read = 0
  for (const { shard, table } of partsOf(clickhouse, 'events')) {
    const { rows, body } = await shard.stream(
      {
        sql: `SELECT event_id FROM ${table} WHERE received_at >= fromUnixTimestamp64Milli({since:Int64})
                AND (${condition.sql}) LIMIT {most:UInt64}`,
        params: { ...condition.params, since, most: idsMax + 1 },
      },
      // Lines begin like those of a segment, so that idWordsAt can read them.
      'JSONEachRow',
      AbortSignal.timeout(timeoutMs),
    )
    read += rows
    if (read > idsMax) {
      body.destroy()
      return null
    }
    await addIds(seen, body, since)
  }
  return seen
}

async function addIds(seen: BloomFilter, body: AsyncIterable<Buffer>, since: number) {
  const id = new Uint32Array(4)
  const hash = new Uint32Array(2)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const end = bytes.lastIndexOf(newline) + 1
    for (let start = 0; start < end; start = nextLineAt(bytes, start)) {
      idWordsAt(bytes, start, id)
      hashId(id, hash, 0)
      seen.add(hash[0]!, hash[1]!, since)
    }
    rest = bytes.subarray(end)
  }
}
