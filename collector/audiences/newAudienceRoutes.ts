import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audit } from '../api/access/audit.ts'
import { lockProject } from '../api/access/locks.ts'
import { audienceProjectOf, audienceScopeOf, projectFor } from '../api/access/policy.ts'
import { writeAccess } from '../api/access/recordAccess.ts'
import { sampleIdentity } from '../api/access/sandboxTenant.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { ById, Clone, NewAudience, One, ProjectQuery, tags } from './audienceSchemas.ts'
import { createAudience, readAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { requireTopicsOf } from './definition/leafTopics.ts'
import { withNumbers } from './shownNumbers.ts'

const path = '/api/v1/audiences'

/** New audiences: by a definition, or as another is. */
export const newAudienceRoutes =
  ({ postgres, openQueryExecutor }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { audience: sampleIdentity.audienceId } },
        schema: {
          tags,
          operationId: 'createAudience',
          summary: 'Create an audience',
          body: NewAudience,
          querystring: ProjectQuery,
          description:
            'Requires the project admin role. Starts the first build; `GET …/{audience_id}/status` shows its progress.',
          response: { 201: One },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const projectId = await audienceProjectOf(postgres, request, 'write')
        await requireTopicsOf(openQueryExecutor, body.definition, principal, reply)
        const audience = await inTransaction(postgres, async (client) => {
          await lockProject(client, projectId)
          const id = await createAudience(client, projectId, body)
          await audit(
            client,
            principal,
            'audience.create',
            { kind: 'audience', id },
            { name: body.name },
          )
          return readAudience(client, { organizationId: principal.organizationId, projectId }, id)
        })
        return reply.code(201).send({ audience: withNumbers(audience) })
      },
    )

    app.post(
      `${path}/:audience_id/clone`,
      {
        config: { access: writeAccess, sampleIds: { audience: sampleIdentity.audienceId } },
        schema: {
          tags,
          operationId: 'cloneAudience',
          summary: 'Clone an audience',
          params: ById,
          querystring: ProjectQuery,
          body: Clone,
          description:
            'Creates a copy in `project_id`; default: the same project. Project keys get 403 for another project. Objects in the definition must belong to the target project.',
          response: { 201: One },
        },
      },
      async (request, reply) => {
        const { principal, params, body, query } = request
        const ownWrite = (project: string) =>
          projectFor(postgres, principal, 'audiences', project, 'write')
        const target = body.project_id ? await ownWrite(body.project_id) : null
        const original = await readAudience(
          postgres,
          await audienceScopeOf(postgres, { principal, query }),
          params.audience_id,
        )
        const { projectId } = target ?? (await ownWrite(original.project_id))
        const audience = await inTransaction(postgres, async (client) => {
          await lockProject(client, projectId)
          const name = body.name ?? `${original.name.slice(0, 190)} (copy)`
          const id = await createAudience(client, projectId, { ...original, name })
          await audit(
            client,
            principal,
            'audience.clone',
            { kind: 'audience', id },
            { name, of: original.id },
          )
          return readAudience(client, { organizationId: principal.organizationId, projectId }, id)
        })
        return reply.code(201).send({ audience: withNumbers(audience) })
      },
    )
  }
