import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../access/audit.ts'
import { projectFor } from '../../access/permissions.ts'
import { conflict, invalidParameter, notFound } from '../../http/errors.ts'
import { changesOf } from '../../http/optimisticLock.ts'
import { NextCursor, pageQuery, readPage } from '../../http/pagination.ts'
import { exactly, Id, Nullable, Timestamp } from '../../http/schemas.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { AccountsDeps } from '../deps.ts'
import { KeysChoice, settleKeys } from '../keys/keysOfMember.ts'
import { access, Deleted, Email, ProjectRole } from '../schemas.ts'

const ProjectMember = Type.Object(
  {
    project_id: Id,
    member_id: Id,
    email: Type.String(),
    name: Nullable(Type.String()),
    role: ProjectRole,
    created_at: Timestamp,
  },
  { title: 'ProjectMember' },
)
type ProjectMember = Static<typeof ProjectMember>

const Answer = Type.Object({ project_member: ProjectMember })
const tags = ['Administration']
const asksAboutKeys =
  'Where they have made API keys of the project that then may more than they, say what becomes of these: without ' +
  '`api_keys` the answer is 409 `conflict` and lists them.'

/** /api/v1/project/user*: who of the organization's plain members belongs to a project. */
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
          description: 'Say who by `member_id` or by `email`. For admins of the project too.',
          body: exactly({
            project_id: Id,
            member_id: Type.Optional(Id),
            email: Type.Optional(Email),
            role: ProjectRole,
          }),
          response: { 201: Answer },
        },
      },
      async ({ principal, body: { project_id, member_id, email, role } }, reply) => {
        if ((member_id === undefined) === (email === undefined)) {
          throw invalidParameter('member_id', 'say who by member_id or by email')
        }
        const { projectId } = await projectFor(postgres, principal, project_id, 'write')
        const project_member = await inTransaction(postgres, async (client) => {
          const found = await client.query<{ member_id: string }>(
            `SELECT member_id FROM members
             WHERE organization_id = $1 AND (member_id = $2 OR email = $3)`,
            [principal.organizationId, member_id, email?.toLowerCase()],
          )
          if (!found.rows[0]) throw notFound.member()
          const memberId = found.rows[0].member_id
          const added = await client.query(
            'INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
            [projectId, memberId, role],
          )
          const member = await readProjectMember(client, projectId, memberId)
          if (added.rowCount === 0) {
            throw conflict('They are a member of this project already.', { project_member: member })
          }
          await audit(client, principal, 'project_member.create', objectOf(member), detailsOf(member))
          return member
        })
        return reply.code(201).send({ project_member })
      },
    )

    app.get(
      '/api/v1/project/user/list',
      {
        config,
        schema: {
          tags,
          operationId: 'listProjectMembers',
          description: 'The plain members who belong to it, oldest first.',
          summary: 'List the members of a project',
          querystring: exactly({ project_id: Id, ...pageQuery }),
          response: {
            200: Type.Object({ project_members: Type.Array(ProjectMember), next_cursor: NextCursor }),
          },
        },
      },
      async ({ principal, query }) => {
        const { projectId } = await projectFor(postgres, principal, query.project_id, 'read')
        const { rows, next } = await readPage<ProjectMemberRow>(deps, query, {
          list: 'project_members',
          owner: projectId,
          sql: `${selectProjectMembers} WHERE project_id = $1`,
          values: [projectId],
          key: { created_at: 'timestamptz', member_id: 'uuid' },
        })
        return { project_members: rows.map(toProjectMember), ...next }
      },
    )

    app.get(
      '/api/v1/project/user/retrieve/:member_id',
      {
        config,
        schema: {
          tags,
          operationId: 'getProjectMember',
          description: 'With their role in the project.',
          summary: 'Get a member of a project',
          params: exactly({ member_id: Id }),
          querystring: exactly({ project_id: Id }),
          response: { 200: Answer },
        },
      },
      async ({ principal, params, query }) => {
        const { projectId } = await projectFor(postgres, principal, query.project_id, 'read')
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
          summary: 'Update the role of a member in a project',
          description: `For admins of the project too. ${asksAboutKeys}`,
          body: exactly({
            ...{ project_id: Id, member_id: Id, role: ProjectRole },
            api_keys: Type.Optional(KeysChoice),
          }),
          response: { 200: Answer },
        },
      },
      async ({ principal, body: { project_id, member_id, role, api_keys } }) => {
        const { projectId } = await projectFor(postgres, principal, project_id, 'write')
        return inTransaction(postgres, async (client) => {
          const before = await readProjectMember(
            client,
            projectId,
            member_id,
            'FOR UPDATE OF project_members',
          )
          await client.query(
            'UPDATE project_members SET role = $3 WHERE project_id = $1 AND member_id = $2',
            [projectId, member_id, role],
          )
          await settleKeys(client, principal, member_id, api_keys, { projectId })
          const project_member = await readProjectMember(client, projectId, member_id)
          await audit(client, principal, 'project_member.update', objectOf(project_member), {
            project_id: projectId,
            ...changesOf(before, project_member),
          })
          return { project_member }
        })
      },
    )

    app.delete(
      '/api/v1/project/user/delete',
      {
        config,
        schema: {
          tags,
          operationId: 'removeProjectMember',
          summary: 'Remove a member from a project',
          description: `For admins of the project too. ${asksAboutKeys}`,
          body: exactly({ project_id: Id, member_id: Id, api_keys: Type.Optional(KeysChoice) }),
          response: { 200: Deleted },
        },
      },
      async ({ principal, body: { project_id, member_id, api_keys } }) => {
        const { projectId } = await projectFor(postgres, principal, project_id, 'write')
        await inTransaction(postgres, async (client) => {
          const member = await readProjectMember(
            client,
            projectId,
            member_id,
            'FOR UPDATE OF project_members',
          )
          await client.query('DELETE FROM project_members WHERE project_id = $1 AND member_id = $2', [
            ...[projectId, member_id],
          ])
          await settleKeys(client, principal, member_id, api_keys, { projectId })
          await audit(client, principal, 'project_member.delete', objectOf(member), detailsOf(member))
        })
        return { deleted: true as const }
      },
    )
  }

const objectOf = ({ member_id }: ProjectMember) => ({ kind: 'project_member' as const, id: member_id })
const detailsOf = ({ project_id, email, role }: ProjectMember) => ({ project_id, email, role })

const selectProjectMembers = `
  SELECT project_id, member_id, email, name, project_members.role, project_members.created_at
  FROM project_members JOIN members USING (member_id)`

interface ProjectMemberRow extends Omit<ProjectMember, 'created_at'> {
  created_at: Date
}

async function readProjectMember(
  client: Queryable,
  projectId: string,
  memberId: string,
  lock: '' | 'FOR UPDATE OF project_members' = '',
): Promise<ProjectMember> {
  const { rows } = await client.query<ProjectMemberRow>(
    `${selectProjectMembers} WHERE project_id = $1 AND member_id = $2 ${lock}`,
    [projectId, memberId],
  )
  if (!rows[0]) throw notFound.projectMember()
  return toProjectMember(rows[0])
}

const toProjectMember = (row: ProjectMemberRow): ProjectMember => ({
  project_id: row.project_id,
  member_id: row.member_id,
  email: row.email,
  name: row.name,
  role: row.role,
  created_at: row.created_at.toISOString(),
})
