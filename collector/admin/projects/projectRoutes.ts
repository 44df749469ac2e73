import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../access/audit.ts'
import { projectFor, requireOrganizationAdmin } from '../../access/permissions.ts'
import { isVisibleProject, plainMemberId } from '../../access/visibility.ts'
import { changesOf, requireVersion } from '../../http/optimisticLock.ts'
import { NextCursor, pageQuery, readPage } from '../../http/pagination.ts'
import { exactly, Id, Name, SeenVersion } from '../../http/schemas.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { AccountsDeps } from '../deps.ts'
import { access, DeletedWithEvents, EventsChoice } from '../schemas.ts'
import { requestDeletion } from './eventDeletions.ts'
import { Project, type ProjectRow, readProject, selectProjects, toProject } from './projects.ts'

const Answer = Type.Object({ project: Project })
const tags = ['Administration']

/** /api/v1/project*: projects of the caller's organization. */
export const projectRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    app.post(
      '/api/v1/project/create',
      {
        config: { access: access.organization },
        schema: {
          tags,
          operationId: 'createProject',
          summary: 'Create a project',
          description: 'For owners, admins and organization keys.',
          body: exactly({ name: Name }),
          response: { 201: Answer },
        },
      },
      async ({ principal, body: { name } }, reply) => {
        requireOrganizationAdmin(principal)
        const id = randomUUID()
        const project = await inTransaction(postgres, async (client) => {
          await client.query('INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, $3)', [
            ...[id, principal.organizationId, name],
          ])
          await audit(client, principal, 'project.create', { kind: 'project', id }, { name })
          return readProject(client, id)
        })
        return reply.code(201).send({ project })
      },
    )

    app.get(
      '/api/v1/project/list',
      {
        config: { access: access.organizationRead },
        schema: {
          tags,
          operationId: 'listProjects',
          summary: 'List projects',
          description: 'A plain member gets those they belong to.',
          querystring: exactly(pageQuery),
          response: { 200: Type.Object({ projects: Type.Array(Project), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        const { rows, next } = await readPage<ProjectRow>(deps, query, {
          list: 'projects',
          owner: principal.organizationId,
          sql: `${selectProjects} WHERE organization_id = $1 AND ${isVisibleProject('project_id', '$2', '$3')}`,
          values: [principal.organizationId, principal.projectId, plainMemberId(principal)],
          key: { created_at: 'timestamptz', project_id: 'uuid' },
        })
        return { projects: rows.map(toProject), ...next }
      },
    )

    app.get(
      '/api/v1/project/retrieve/:project_id',
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'getProject',
          description: 'One that the caller may see.',
          summary: 'Get a project',
          params: exactly({ project_id: Id }),
          response: { 200: Answer },
        },
      },
      async ({ principal, params }) => {
        const { projectId } = await projectFor(postgres, principal, params.project_id, 'read')
        return { project: await readProject(postgres, projectId) }
      },
    )

    app.put(
      '/api/v1/project/update',
      {
        config: { access: access.project },
        schema: {
          tags,
          operationId: 'updateProject',
          summary: 'Update a project',
          description: 'For its admins too.',
          body: exactly({ project_id: Id, name: Type.Optional(Name), version: SeenVersion }),
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => {
        const { projectId: id } = await projectFor(postgres, principal, body.project_id, 'write')
        return inTransaction(postgres, async (client) => {
          const before = await readProject(client, id, 'FOR NO KEY UPDATE')
          requireVersion('project', before, body.version)
          await client.query(
            `UPDATE projects SET name = coalesce($2, name), version = version + 1, updated_at = now()
             WHERE project_id = $1`,
            [id, body.name],
          )
          const project = await readProject(client, id)
          await audit(
            client,
            principal,
            'project.update',
            { kind: 'project', id },
            changesOf(before, project),
          )
          return { project }
        })
      },
    )

    app.delete(
      '/api/v1/project/delete',
      {
        config: { access: access.organization },
        schema: {
          tags,
          operationId: 'deleteProject',
          summary: 'Delete a project with its pixels and keys',
          description: 'For owners, admins and organization keys.',
          body: exactly({ project_id: Id, events: EventsChoice }),
          response: { 200: DeletedWithEvents },
        },
      },
      async ({ principal, body: { project_id, events } }) => {
        const { projectId: id } = await projectFor(postgres, principal, project_id, 'read')
        requireOrganizationAdmin(principal)
        await inTransaction(postgres, async (client) => {
          const { name } = await readProject(client, id, 'FOR UPDATE')
          if (events === 'delete') {
            await requestDeletion(client, { organizationId: principal.organizationId, projectId: id })
          }
          await audit(client, principal, 'project.delete', { kind: 'project', id }, { name, events })
          await client.query('DELETE FROM projects WHERE project_id = $1', [id])
        })
        return { deleted: true as const, events }
      },
    )
  }
