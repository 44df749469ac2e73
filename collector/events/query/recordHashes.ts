import { fieldNamed } from '../../../schemas/fields.ts'
import type { Reader } from '../../api/access/reader.ts'
import type { Query } from '../../platform/clickhouse/client.ts'

/** The fields that tell an event from all others. */
export const recordKey = [fieldNamed('project_id')!, fieldNamed('event_id')!]

/** The hashes of the records of an answer that are events; `keys` selects recordKey of these, in the answer's order. */
export async function readRecordHashes(
  reader: Reader,
  { sql, params }: Query,
): Promise<readonly string[]> {
  const key = recordKey.map(({ name }) => name).join(', ')
  const [found] = await reader.rows<{ hashes: string[] }>({
    sql: `SELECT groupArray(toString(reinterpretAsInt64(sipHash64(${key})))) AS hashes FROM (\n${sql}\n)`,
    params,
  })
  return found!.hashes
}
