import type { FastifyReply } from 'fastify'
import type { Principal } from '../api/access/principal.ts'
import type { OpenQueryExecutor } from '../api/access/queryExecutor.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { checkTopics } from './definition/leafTopics.ts'
import { parseDefinition } from './definition/parse.ts'

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
