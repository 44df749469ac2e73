import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administeredProject } from '../../api/access/policy.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { access, Deleted } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import {
  addProjectMember,
  changeProjectMember,
  NewProjectMember,
  ProjectMemberChange,
  ProjectMemberRemoval,
  removeProjectMember,
} from './projectMemberChanges.ts'
import { ProjectMember, readProjectMember, selectProjectMembers } from './projectMembers.ts'

const Answer = Type.Object({ project_member: ProjectMember })
const tags = ['Projects']
const asksAboutKeys =
  'If the member created API keys that exceed the new role in the project, set `api_keys`. Without it, the answer is 409 `conflict` and lists these keys.'

/** /api/v1/project/user*: the plain members of the organization who belong to a project. */
export const projectMemberRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    const config = { access: access.organization }

    app.post(
      '/api/v1/project/user/create',
      {
        config,
        schema: {
          tags,
          operationId: 'addProjectMember',
          summary: 'Add a member to a project',
          description:
            'Requires the project admin role. Identify the member by `member_id` or `email`.',
          body: NewProjectMember,
          response: { 201: Answer },
        },
      },
      async ({ principal, body }, reply) =>
        reply.code(201).send({ project_member: await addProjectMember(postgres, principal, body) }),
    )

    app.get(
      '/api/v1/project/user/list',
      {
        config,
        schema: {
          tags,
          operationId: 'listProjectMembers',
          description: 'The plain members of the project, oldest first.',
          summary: 'List the members of a project',
          querystring: strictObject({ project_id: Id, ...pageQuery }),
          response: {
            200: Type.Object({
              project_members: Type.Array(ProjectMember),
              next_cursor: NextCursor,
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const projectId = await administeredProject(postgres, principal, query.project_id, 'read')
        const { rows, next } = await readPage<ProjectMember>(deps, query, {
          list: 'project_members',
          owner: projectId,
          sql: `${selectProjectMembers} WHERE project_id = $1`,
          values: [projectId],
          key: { created_at: 'timestamptz', member_id: 'uuid' },
        })
        return { project_members: rows, ...next }
      },
    )

    app.get(
      '/api/v1/project/user/retrieve/:member_id',
      {
        config,
        schema: {
          tags,
          operationId: 'getProjectMember',
          description: 'Returns the members and their roles in the project.',
          summary: 'Get a member of a project',
          params: strictObject({ member_id: Id }),
          querystring: strictObject({ project_id: Id }),
          response: { 200: Answer },
        },
      },
      async ({ principal, params, query }) => {
        const projectId = await administeredProject(postgres, principal, query.project_id, 'read')
        return { project_member: await readProjectMember(postgres, projectId, params.member_id) }
      },
    )

    app.put(
      '/api/v1/project/user/update',
      {
        config,
        schema: {
          tags,
          operationId: 'updateProjectMember',
          summary: 'Update the role of a project member',
          description: `Requires the project admin role. ${asksAboutKeys}`,
          body: ProjectMemberChange,
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => ({
        project_member: await changeProjectMember(postgres, principal, body),
      }),
    )

    app.delete(
      '/api/v1/project/user/delete',
      {
        config,
        schema: {
          tags,
          operationId: 'removeProjectMember',
          summary: 'Remove a member from a project',
          description: `Requires the project admin role. ${asksAboutKeys}`,
          body: ProjectMemberRemoval,
          response: { 204: Deleted },
        },
      },
      async ({ principal, body }, reply) => {
        await removeProjectMember(postgres, principal, body)
        return reply.code(204).send(null)
      },
    )
  }
