import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../api/access/audit.ts'
import { audienceProjectOf, audienceScopeOf, projectFor } from '../api/access/policy.ts'
import { access, writeAccess } from '../api/access/recordAccess.ts'
import { changesOf } from '../api/http/optimisticLock.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import {
  AudienceChange,
  ById,
  ListQuery,
  One,
  Page,
  ProjectQuery,
  tags,
} from './audienceSchemas.ts'
import {
  changeAudience,
  deleteAudience,
  listAudiences,
  lockAudiencesOf,
  readAudience,
} from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { requireTopicsOf } from './requireTopics.ts'

const path = '/api/v1/audiences'
const onePath = `${path}/:audience_id`

/** Routes that list, read, change and delete audiences. */
export const audienceRoutes =
  ({ postgres, cursors, openQueryExecutor }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listAudiences',
          summary: 'List audiences',
          querystring: ListQuery,
          description: 'Returns the audiences of the project, oldest first.',
          response: { 200: Page },
        },
      },
      async (request) => {
        const projectId = await audienceProjectOf(postgres, request, 'read')
        return listAudiences(
          { postgres, cursors },
          { organizationId: request.principal.organizationId, projectId },
          request.query,
        )
      },
    )

    app.get(
      onePath,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getAudience',
          summary: 'Get an audience',
          params: ById,
          querystring: ProjectQuery,
          description: 'Returns the audience with its definition and the counts of its last build.',
          response: { 200: One },
        },
      },
      async (request) => ({
        audience: await readAudience(
          postgres,
          await audienceScopeOf(postgres, request),
          request.params.audience_id,
        ),
      }),
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateAudience',
          summary: 'Update an audience',
          params: ById,
          querystring: ProjectQuery,
          body: AudienceChange,
          description:
            'Requires the project admin role. Omitted fields keep their values. A new definition or window starts a build; until it completes, the previous build is served.',
          response: { 200: One },
        },
      },
      async (request, reply) => {
        const { principal, params, body } = request
        const scope = await audienceScopeOf(postgres, request)
        // Read before the transaction, because a request that holds a connection must not wait for another
        // one.
        const { id, project_id } = await readAudience(postgres, scope, params.audience_id)
        await projectFor(postgres, principal, 'audiences', project_id, 'write')
        if (body.definition !== undefined)
          await requireTopicsOf(openQueryExecutor, body.definition, principal, reply)
        return inTransaction(postgres, async (client) => {
          await lockAudiencesOf(client, project_id)
          const before = await readAudience(client, scope, id, true)
          await changeAudience(client, before, body)
          const audience = await readAudience(client, scope, id)
          const object = { kind: 'audience', id } as const
          await audit(client, principal, 'audience.update', object, changesOf(before, audience))
          return { audience }
        })
      },
    )

    app.delete(
      onePath,
      {
        config: { access: writeAccess, refusals: { 409: 'Another object uses it.' } },
        schema: {
          tags,
          operationId: 'deleteAudience',
          summary: 'Delete an audience',
          params: ById,
          querystring: ProjectQuery,
          description:
            'Requires the project admin role. Returns 409 with the name of an audience, campaign or export that uses it.',
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        const scope = await audienceScopeOf(postgres, request)
        const { id, project_id, name } = await readAudience(postgres, scope, params.audience_id)
        await projectFor(postgres, principal, 'audiences', project_id, 'write')
        await inTransaction(postgres, async (client) => {
          await lockAudiencesOf(client, project_id)
          await readAudience(client, scope, id, true)
          await deleteAudience(client, id)
          await audit(client, principal, 'audience.delete', { kind: 'audience', id }, { name })
        })
        return reply.code(204).send(null)
      },
    )
  }
