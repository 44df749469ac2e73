import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../api/access/audit.ts'
import { lockProject } from '../api/access/locks.ts'
import { audienceProjectOf, audienceScopeOf, projectFor } from '../api/access/policy.ts'
import { access, writeAccess } from '../api/access/recordAccess.ts'
import { changesOf, requireVersion } from '../api/http/optimisticLock.ts'
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
import { changeAudience, deleteAudience, listAudiences, readAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { requireTopicsOf } from './definition/leafTopics.ts'
import { readNumbersOf } from './shownNumbers.ts'

const path = '/api/v1/audiences'
const onePath = `${path}/:audience_id`

export const audienceRoutes =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, openQueryExecutor } = deps
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
      async (request, reply) => {
        const { principal, query } = request
        const projectId = await audienceProjectOf(postgres, request, 'read')
        const scope = { organizationId: principal.organizationId, projectId }
        const { audiences, ...next } = await listAudiences(deps, scope, query)
        const withNumbers = await readNumbersOf(deps, principal, reply, audiences)
        return { audiences: audiences.map(withNumbers), ...next }
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
          description:
            'Returns the audience with its definition, and counts of the members of its served build who may be shown now.',
          response: { 200: One },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        const scope = await audienceScopeOf(postgres, request)
        const audience = await readAudience(postgres, scope, params.audience_id)
        const withNumbers = await readNumbersOf(deps, principal, reply, [audience])
        return { audience: withNumbers(audience) }
      },
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
        const earlier = await readAudience(postgres, scope, params.audience_id)
        const { id, project_id } = earlier
        await projectFor(postgres, principal, 'audiences', project_id, 'write')
        const withNumbers = await readNumbersOf(deps, principal, reply, [earlier])
        if (body.definition !== undefined)
          await requireTopicsOf(openQueryExecutor, body.definition, principal, reply)
        return inTransaction(postgres, async (client) => {
          await lockProject(client, project_id)
          const before = await readAudience(client, scope, id, true)
          requireVersion('audience', withNumbers(before), body.version)
          await changeAudience(client, before, body)
          const audience = await readAudience(client, scope, id)
          const object = { kind: 'audience', id } as const
          await audit(client, principal, 'audience.update', object, changesOf(before, audience))
          return { audience: withNumbers(audience) }
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
          await lockProject(client, project_id)
          await readAudience(client, scope, id, true)
          await deleteAudience(client, id)
          await audit(client, principal, 'audience.delete', { kind: 'audience', id }, { name })
        })
        return reply.code(204).send(null)
      },
    )
  }
