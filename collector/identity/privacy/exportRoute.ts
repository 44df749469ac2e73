import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { startingWith, streamOf, untilClosed } from '../../api/http/streaming.ts'
import { countBrowsers, exportSubject } from './export.ts'
import { browsersPerExport, exportsPerDay, noteExport } from './exportLimit.ts'
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
