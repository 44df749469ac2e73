import { fieldNamed } from '../../schemas/fields.ts'
import type { Reader } from '../access/reader.ts'
import type { Answered, Charge } from '../billing/billing.ts'
import type { Query } from '../platform/clickhouse/client.ts'

/** The fields that tell a record of a page from all others, and place it in the order of time. */
export const spanFields = [fieldNamed('ts_millis')!, fieldNamed('event_id')!]

/**
 * What a repeat of a read is told by: its window, and from which record to which its answer reaches. `keysOf` makes the
 * query that selects spanFields of the answer's records. Without Idempotency-Key nothing is asked.
 */
export async function readSpan(
  reader: Reader,
  { isRepeatable, repeats }: Charge,
  keysOf: () => Query | Promise<Query>,
): Promise<Pick<Answered, 'span' | 'known'>> {
  if (!isRepeatable) return {}
  const keys = await keysOf()
  const key = '(ts_millis, event_id)'
  const between = repeats
    ? `countIf(${key} BETWEEN ({oldestMs:Int64}, {oldestId:UUID}) AND ({newestMs:Int64}, {newestId:UUID}))`
    : '0'
  const [newest, oldest] = [repeats?.span.first.split(' ') ?? [], repeats?.span.last.split(' ') ?? []]
  const [found] = await reader.rows<{ first: string; last: string; records: number; known: number }>({
    sql: `SELECT count() AS records, ${between} AS known,
            concat(toString(max(${key}).1), ' ', toString(max(${key}).2)) AS first,
            concat(toString(min(${key}).1), ' ', toString(min(${key}).2)) AS last
          FROM (\n${keys.sql}\n)`,
    params: {
      ...keys.params,
      ...(repeats && { newestMs: newest[0], newestId: newest[1], oldestMs: oldest[0], oldestId: oldest[1] }),
    },
  })
  const { first, last, records, known } = found!
  return { span: records === 0 ? null : { first, last }, known }
}
