import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { findFaultyTopics } from '../signals/topics.ts'
import type { Parsed } from './definition.ts'
import { invalidAt } from './invalid.ts'

/** Looks up the topics of intent leaves. Throws 400 with the JSON pointer of unknown ones. */
export async function checkTopics(clickhouse: ClickHouse, { leaves }: Parsed): Promise<void> {
  for (const leaf of leaves) {
    if (leaf.kind !== 'intent') continue
    const fault = await findFaultyTopics(clickhouse, leaf.topics)
    if (fault) throw invalidAt(`${leaf.pointer}/topics`, fault)
  }
}
