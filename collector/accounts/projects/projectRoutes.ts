import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administeredProject } from '../../api/access/policy.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { isVisibleProject, plainMemberId } from '../../api/access/visibility.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { access, DeletedWithEvents } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import {
  changeProject,
  createProject,
  deleteProject,
  NewProject,
  ProjectChange,
  ProjectDeletion,
} from './projectChanges.ts'
import { Project, readProject, selectProjects } from './projects.ts'

const Answer = Type.Object({ project: Project })
const tags = ['Projects']

/** /api/v1/project*: projects of the caller's organization. */
export const projectRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    app.post(
      '/api/v1/project/create',
      {
        config: { access: access.organization, sampleIds: { project: sampleIdentity.projectId } },
        schema: {
          tags,
          operationId: 'createProject',
          summary: 'Create a project',
          description: 'Requires the owner or admin role, or an organization key.',
          body: NewProject,
          response: { 201: Answer },
        },
      },
      async ({ principal, body }, reply) =>
        reply.code(201).send({ project: await createProject(postgres, principal, body) }),
    )

    app.get(
      '/api/v1/project/list',
      {
        config: { access: access.organizationRead },
        schema: {
          tags,
          operationId: 'listProjects',
          summary: 'List projects',
          description:
            'Returns all projects that the caller can access. Plain members see their own projects.',
          querystring: strictObject(pageQuery),
          response: {
            200: Type.Object({ projects: Type.Array(Project), next_cursor: NextCursor }),
          },
        },
      },
      async ({ principal, query }) => {
        const { rows, next } = await readPage<Project>(deps, query, {
          list: 'projects',
          owner: principal.organizationId,
          sql: `${selectProjects} WHERE organization_id = $1 AND ${isVisibleProject('project_id', '$2', '$3')}`,
          values: [principal.organizationId, principal.projectId, plainMemberId(principal)],
          key: { created_at: 'timestamptz', project_id: 'uuid' },
        })
        return { projects: rows, ...next }
      },
    )

    app.get(
      '/api/v1/project/retrieve/:project_id',
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'getProject',
          description: 'Returns a project that the caller can access.',
          summary: 'Get a project',
          params: strictObject({ project_id: Id }),
          response: { 200: Answer },
        },
      },
      async ({ principal, params }) => {
        const projectId = await administeredProject(postgres, principal, params.project_id, 'read')
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
          description:
            'Requires the project admin role. A new time zone also applies to past days. A list of ignored networks, hosts or paths replaces the earlier list; the collectors apply it within seconds. They acknowledge a matching event, but do not store it and link no identity.',
          body: ProjectChange,
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => ({ project: await changeProject(postgres, principal, body) }),
    )

    app.delete(
      '/api/v1/project/delete',
      {
        config: { access: access.organization },
        schema: {
          tags,
          operationId: 'deleteProject',
          summary: 'Delete a project',
          description:
            'Requires the owner or admin role, or an organization key. Deletes the project with its pixels and keys. Stored events stay unless `events` is `delete`.',
          body: ProjectDeletion,
          response: { 200: DeletedWithEvents },
        },
      },
      async ({ principal, body }) => {
        const events = await deleteProject(postgres, principal, body)
        return { deleted: true as const, events }
      },
    )
  }
