import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import type { Principal } from '../../api/access/principal.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError, conflict } from '../../api/http/errors.ts'
import { startingWith, streamOf, untilClosed } from '../../api/http/streaming.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { countBrowsers, exportSubject } from './export.ts'
import { access } from './privacyAccess.ts'
import type { PrivacyDeps } from './privacyDeps.ts'
import { oneOf, SubjectParameters, tags } from './privacySchemas.ts'
import { readSubject } from './subject.ts'

/** Exports all stored data of one person or browser. */
export const exportRoute =
  ({ postgres, openQueryExecutor }: PrivacyDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/privacy/subject',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'exportSubject',
          summary: 'Export the data of a person or a browser',
          querystring: strictObject(SubjectParameters),
          description:
            'Returns JSON lines `{ "kind": "link" | "event" | "rejected_event" | "list_member", "data": {…} }`: the data that the ' +
            `organization’s sites recorded, and the lists with the subject. Not charged. Recorded in the audit log. At most ${exportsPerDay} exports in 24 hours; each ${browsersPerExport} browsers of a person count as one. ${oneOf}`,
          response: {
            200: {
              description: 'One line for each record.',
              content: {
                'application/x-ndjson': { schema: Type.Unsafe<Readable | string>(Type.String()) },
              },
            },
          },
        },
      },
      async ({ principal, query }, reply) => {
        requireOrganizationAdmin(principal)
        const subject = readSubject(query)
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        const browsers = await countBrowsers(queryExecutor, principal.organizationId, subject)
        await noteExport(postgres, principal, Object.keys(query)[0]!, browsers)
        const lines = exportSubject({ queryExecutor, postgres }, principal.organizationId, subject)
        // The first line is read before the response begins, so an early failure returns an error instead of
        // a truncated response.
        const { value, done } = await lines.next()
        reply.header('content-type', 'application/x-ndjson; charset=utf-8')
        if (done) return reply.send('')
        return reply.send(streamOf(startingWith(value, lines)))
      },
    )
  }

/** Suffices for individual requests but not for bulk exports. */
export const exportsPerDay = 100
/**
 * So many browsers of a person count as one export. A site can link any browsers to one person, and would otherwise read
 * all of its events free of charge with a single export.
 */
const browsersPerExport = 20

/**
 * Records an export of so many browsers in the audit log, without its subject. Throws 429 "rate_limited" with Retry-After
 * at the limit of the last 24 hours. Throws 409 for a person whose browsers exceed it alone.
 */
async function noteExport(
  postgres: Postgres,
  principal: Principal,
  by: string,
  browsers: number,
): Promise<void> {
  const { organizationId } = principal
  const counted = Math.max(1, Math.ceil(browsers / browsersPerExport))
  if (counted > exportsPerDay)
    throw conflict(
      'count_limit_reached',
      `The person has ${browsers} browsers, and an export has at most ${exportsPerDay * browsersPerExport}. Export them by cookie_id.`,
    )
  await inTransaction(postgres, async (client) => {
    await lockOrganization(client, organizationId)
    const { rows } = await client.query<{ made: number; wait_seconds: number | null }>(
      `SELECT coalesce(sum(coalesce((details ->> 'counted')::int, 1)), 0)::int AS made, extract(epoch FROM min(at) + interval '24 hours' - now())::float8 AS wait_seconds
       FROM audit_log
       WHERE organization_id = $1 AND action = 'subject.export' AND at > now() - interval '24 hours'`,
      [organizationId],
    )
    const { made, wait_seconds } = rows[0]!
    if (made + counted > exportsPerDay) {
      throw new ApiError(
        429,
        'rate_limited',
        `More than ${exportsPerDay} exports in 24 hours. Wait before the next one.`,
        {
          headers: { 'retry-after': String(Math.max(1, Math.ceil(wait_seconds!))) },
        },
      )
    }
    await audit(
      client,
      principal,
      'subject.export',
      { kind: 'subject', id: randomUUID() },
      {
        by,
        ...(counted > 1 && { counted }),
      },
    )
  })
}
