import type { FastifyReply } from 'fastify'
import type { Principal } from '../api/access/principal.ts'
import type { OpenReader } from '../api/access/reader.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { checkTopics } from './definition/leafTopics.ts'
import { parseDefinition } from './definition/parse.ts'

/** Throws 400 for a topic of a definition that there is not. */
export async function requireTopicsOf(
  openReader: OpenReader,
  definition: unknown,
  principal: Principal,
  reply: FastifyReply,
): Promise<void> {
  const { clickhouse } = openReader(principal, { effort: 'page', signal: untilClosed(reply) })
  await checkTopics(clickhouse, parseDefinition(definition))
}
