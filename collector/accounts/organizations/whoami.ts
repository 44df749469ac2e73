import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { isOrganizationAdmin } from '../../api/access/permissions.ts'
import type { Principal } from '../../api/access/principal.ts'
import { isVisibleProject, plainMemberId } from '../../api/access/visibility.ts'
import { Id, Nullable } from '../../api/http/commonSchemas.ts'
import { unauthorized } from '../../api/http/errors.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { access, OrganizationRole, ProjectRole } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'

const Caller = Type.Union([
  Type.Object({
    kind: Type.Literal('key'),
    key_id: Id,
    scope: Type.Union([Type.Literal('organization'), Type.Literal('project')]),
    mode: Type.Union([Type.Literal('live'), Type.Literal('test')]),
  }),
  Type.Object({
    kind: Type.Literal('member'),
    member_id: Id,
    email: Type.String(),
    name: Nullable(Type.String()),
    role: OrganizationRole,
  }),
])

const Whoami = Type.Object(
  {
    organization: Type.Object({ organization_id: Id, name: Type.String() }),
    caller: Caller,
    projects: Type.Array(
      Type.Object({
        project_id: Id,
        name: Type.String(),
        role: Type.Optional(
          Type.Union([...ProjectRole.anyOf], {
            description: 'For members: their role in the project.',
          }),
        ),
      }),
    ),
  },
  { title: 'Whoami' },
)
type Whoami = Static<typeof Whoami>

/** GET /api/v1/whoami: the caller and their projects. */
export const whoamiRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/whoami',
      {
        config: { access: access.projectRead },
        schema: {
          tags: ['Administration'],
          operationId: 'whoAmI',
          description:
            'Returns the holder of the key, token or session, their role, and the projects they can access.',
          summary: 'Get the caller',
          response: { 200: Whoami },
        },
      },
      async ({ principal }) => {
        const [organization, caller, projects] = await Promise.all([
          readOrganizationName(postgres, principal.organizationId),
          describeCaller(postgres, principal),
          readProjects(postgres, principal),
        ])
        return { organization, caller, projects }
      },
    )
  }

async function readOrganizationName(
  postgres: Queryable,
  organizationId: string,
): Promise<Whoami['organization']> {
  const { rows } = await postgres.query<Whoami['organization']>(
    'SELECT organization_id, name FROM organizations WHERE organization_id = $1',
    [organizationId],
  )
  // The cache of keys and sessions can outlive the organization for a moment.
  if (!rows[0]) throw unauthorized.key()
  return rows[0]
}

async function describeCaller(
  postgres: Queryable,
  { caller, projectId, mode }: Principal,
): Promise<Whoami['caller']> {
  if (caller.kind === 'key') {
    return {
      kind: 'key',
      key_id: caller.keyId,
      scope: projectId === null ? 'organization' : 'project',
      mode,
    }
  }
  if (caller.kind === 'share') throw unauthorized.share()
  const { rows } = await postgres.query<{ email: string; name: string | null }>(
    'SELECT email, name FROM members WHERE member_id = $1',
    [caller.memberId],
  )
  if (!rows[0]) throw unauthorized.key()
  return { kind: 'member', member_id: caller.memberId, ...rows[0], role: caller.role }
}

async function readProjects(
  postgres: Queryable,
  principal: Principal,
): Promise<Whoami['projects']> {
  const { caller } = principal
  const { rows } = await postgres.query<{
    project_id: string
    name: string
    role: 'admin' | 'member' | null
  }>(
    `SELECT project_id, name,
       (SELECT role FROM project_members
        WHERE project_members.project_id = projects.project_id AND member_id = $3) AS role
     FROM projects WHERE organization_id = $1 AND ${isVisibleProject('project_id', '$2', '$3')}
     ORDER BY created_at, project_id`,
    [principal.organizationId, principal.projectId, plainMemberId(principal)],
  )
  return rows.map(({ role, ...project }) => {
    if (caller.kind === 'key') return project
    return { ...project, role: isOrganizationAdmin(principal) ? 'admin' : (role ?? 'member') }
  })
}
