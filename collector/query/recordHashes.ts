import { fieldNamed } from '../../schemas/fields.ts'
import type { Reader } from '../access/reader.ts'
import type { Answered, Charge } from '../billing/billing.ts'
import type { Query } from '../platform/clickhouse/client.ts'

/** The fields that tell an event from all others. */
export const recordKey = [fieldNamed('project_id')!, fieldNamed('event_id')!]

/**
 * What `settle` is to be told of an answer whose records are events: the hashes of their keys. `keysOf` makes the query
 * that selects recordKey of these records, in the order of the answer. Without Idempotency-Key nothing is asked.
 */
export async function readRecordHashes(
  reader: Reader,
  { isRepeatable }: Charge,
  keysOf: () => Query | Promise<Query>,
): Promise<Pick<Answered, 'hashes'>> {
  if (!isRepeatable) return {}
  const { sql, params } = await keysOf()
  const key = recordKey.map(({ name }) => name).join(', ')
  const [found] = await reader.rows<{ hashes: string[] }>({
    sql: `SELECT groupArray(toString(reinterpretAsInt64(sipHash64(${key})))) AS hashes FROM (\n${sql}\n)`,
    params,
  })
  return found!
}
