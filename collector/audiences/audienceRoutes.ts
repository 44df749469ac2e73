import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { audit } from '../access/audit.ts'
import type { Principal } from '../access/principal.ts'
import { access, requireLive, writeAccess } from '../access/recordAccess.ts'
import { changesOf } from '../http/optimisticLock.ts'
import { untilClosed } from '../http/streaming.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { projectOf, requireProject, scopeOf } from './access.ts'
import {
  changeAudience,
  createAudience,
  deleteAudience,
  listAudiences,
  lockAudiencesOf,
  readAudience,
} from './audiences.ts'
import { checkTopics } from './definition/leafTopics.ts'
import { parseDefinition } from './definition/parse.ts'
import type { AudiencesDeps } from './deps.ts'
import {
  AudienceChange,
  ById,
  Clone,
  ListQuery,
  NewAudience,
  One,
  Page,
  ProjectQuery,
  tags,
} from './schemas.ts'

const path = '/api/v1/audiences'
const onePath = `${path}/:audience_id`

/** Audiences as records: create, list, read, change, delete, clone. */
export const audienceRoutes =
  ({ postgres, cursors, openReader }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const requireTopicsOf = async (definition: unknown, principal: Principal, reply: FastifyReply) => {
      const { clickhouse } = openReader(principal, { effort: 'page', signal: untilClosed(reply) })
      await checkTopics(clickhouse, parseDefinition(definition))
    }

    app.post(
      path,
      {
        config: { access: writeAccess },
        schema: {
          ...{
            tags,
            operationId: 'createAudience',
            summary: 'Create an audience',
            body: NewAudience,
            querystring: ProjectQuery,
          },
          description: 'Its first build starts at once; `GET …/{audience_id}/status` says how far it is.',
          response: { 201: One },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        requireLive(principal, 'audiences')
        const projectId = await projectOf(postgres, request, 'write')
        await requireTopicsOf(body.definition, principal, reply)
        const audience = await inTransaction(postgres, async (client) => {
          await lockAudiencesOf(client, projectId)
          const id = await createAudience(client, projectId, body)
          await audit(client, principal, 'audience.create', { kind: 'audience', id }, { name: body.name })
          return readAudience(client, { organizationId: principal.organizationId, projectId }, id)
        })
        return reply.code(201).send({ audience })
      },
    )

    app.get(
      path,
      {
        config: { access },
        schema: {
          ...{ tags, operationId: 'listAudiences', summary: 'List audiences', querystring: ListQuery },
          description: 'Of one project, oldest first.',
          response: { 200: Page },
        },
      },
      async (request) => {
        const projectId = await projectOf(postgres, request, 'read')
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
          ...{
            tags,
            operationId: 'getAudience',
            summary: 'Get an audience',
            params: ById,
            querystring: ProjectQuery,
          },
          description: 'With its definition, and the counts of its last build.',
          response: { 200: One },
        },
      },
      async (request) => ({
        audience: await readAudience(postgres, await scopeOf(postgres, request), request.params.audience_id),
      }),
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          ...{
            tags,
            operationId: 'updateAudience',
            summary: 'Update an audience',
            params: ById,
            querystring: ProjectQuery,
            body: AudienceChange,
          },
          description:
            'What is not named stays. Another definition or window has it built anew; until then the build before is ' +
            'served.',
          response: { 200: One },
        },
      },
      async (request, reply) => {
        const { principal, params, body } = request
        requireLive(principal, 'audiences')
        const scope = await scopeOf(postgres, request)
        // Before the transaction: who holds a connection must not wait for another.
        const { id, project_id } = await readAudience(postgres, scope, params.audience_id)
        await requireProject(postgres, principal, project_id, 'write')
        if (body.definition !== undefined) await requireTopicsOf(body.definition, principal, reply)
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
        config: { access: writeAccess, refusals: { 409: 'Something uses it.' } },
        schema: {
          ...{
            tags,
            operationId: 'deleteAudience',
            summary: 'Delete an audience',
            params: ById,
            querystring: ProjectQuery,
          },
          description: '409 while another audience, a campaign or an export uses it, naming which.',
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        requireLive(principal, 'audiences')
        const scope = await scopeOf(postgres, request)
        const { id, project_id, name } = await readAudience(postgres, scope, params.audience_id)
        await requireProject(postgres, principal, project_id, 'write')
        await inTransaction(postgres, async (client) => {
          await lockAudiencesOf(client, project_id)
          await readAudience(client, scope, id, true)
          await deleteAudience(client, id)
          await audit(client, principal, 'audience.delete', { kind: 'audience', id }, { name })
        })
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${onePath}/clone`,
      {
        config: { access: writeAccess },
        schema: {
          ...{
            tags,
            operationId: 'cloneAudience',
            summary: 'Clone an audience',
            params: ById,
            querystring: ProjectQuery,
            body: Clone,
          },
          description:
            'Into `project_id`, by default its own project. A key of one project gets 403 for another. What the ' +
            'definition names has to be in that project.',
          response: { 201: One },
        },
      },
      async (request, reply) => {
        const { principal, params, body, query, headers } = request
        requireLive(principal, 'audiences')
        const target =
          body.project_id &&
          (await requireProject(postgres, principal, body.project_id.toLowerCase(), 'write'))
        const original = await readAudience(
          postgres,
          await scopeOf(postgres, { principal, query, headers }),
          params.audience_id,
        )
        const projectId = target ?? (await requireProject(postgres, principal, original.project_id, 'write'))
        const audience = await inTransaction(postgres, async (client) => {
          await lockAudiencesOf(client, projectId)
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
        return reply.code(201).send({ audience })
      },
    )
  }
