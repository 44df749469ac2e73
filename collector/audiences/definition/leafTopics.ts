import type { FastifyReply } from 'fastify'
import type { Principal } from '../../api/access/principal.ts'
import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { findFaultyTopics } from '../signals/topics.ts'
import type { Parsed } from './definition.ts'
import { invalidAt } from './invalid.ts'
import { parseDefinition } from './parse.ts'

/** Throws 400 for a topic of a definition that there is not. */
export async function requireTopicsOf(
  openQueryExecutor: OpenQueryExecutor,
  definition: unknown,
  principal: Principal,
  reply: FastifyReply,
): Promise<void> {
  const { clickhouse } = openQueryExecutor(principal, {
    effort: 'page',
    signal: untilClosed(reply),
  })
  await checkTopics(clickhouse, parseDefinition(definition))
}

/** Looks up the topics of intent leaves. Throws 400 with the JSON pointer of unknown ones. */
export async function checkTopics(clickhouse: ClickHouse, { leaves }: Parsed): Promise<void> {
  for (const leaf of leaves) {
    if (leaf.kind !== 'intent') continue
    const fault = await findFaultyTopics(clickhouse, leaf.topics)
    if (fault) throw invalidAt(`${leaf.pointer}/topics`, fault)
  }
}
