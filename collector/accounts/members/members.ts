import { type Static, Type } from 'typebox'
import type { Principal } from '../../api/access/principal.ts'
import { plainMemberId } from '../../api/access/visibility.ts'
import { Id, Nullable, strictObject, Timestamp, Version } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter, lastOwner, notFound } from '../../api/http/errors.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { OrganizationRole, ProjectRole } from '../accountSchemas.ts'

export const ProjectOfMember = strictObject({ project_id: Id, role: ProjectRole })

export const Member = Type.Object(
  {
    member_id: Id,
    email: Type.String(),
    name: Nullable(Type.String()),
    role: OrganizationRole,
    status: Type.Union([Type.Literal('active'), Type.Literal('invited')], {
      description: '`invited` until the invitation is accepted, or until the first single sign-on.',
    }),
    projects: Type.Array(ProjectOfMember, {
      description: 'The projects of a plain member. Owners and admins can access every project.',
    }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>

/** Throws 409 "last_owner" when the member is the only owner who can sign in. Call it with the organization locked. */
export async function requireAnotherOwner(
  client: Queryable,
  { member_id, role, status }: Member,
): Promise<void> {
  if (role !== 'owner' || status !== 'active') return
  const { rowCount } = await client.query(
    `SELECT FROM members
     WHERE organization_id = (SELECT organization_id FROM members WHERE member_id = $1)
       AND member_id <> $1 AND role = 'owner' AND user_id IS NOT NULL`,
    [member_id],
  )
  if (rowCount === 0) throw lastOwner()
}

/** Throws 409 "in_use" for the owner who signs in with a password when the provider is unavailable. */
export async function requireNotEmergencyOwner(
  client: Queryable,
  { member_id }: Member,
): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM single_sign_on WHERE emergency_member_id = $1',
    [member_id],
  )
  if (rowCount !== 0)
    throw conflict(
      'in_use',
      'This member is the emergency owner of single sign-on. Choose another emergency owner first.',
    )
}

export async function addToProjects(
  client: Queryable,
  organizationId: string,
  memberId: string,
  projects: readonly Static<typeof ProjectOfMember>[],
): Promise<void> {
  const ids = projects.map(({ project_id }) => project_id)
  if (new Set(ids).size < ids.length)
    throw invalidParameter('projects', 'must name each project once')
  const { rowCount } = await client.query(
    `INSERT INTO project_members (project_id, member_id, role)
     SELECT project_id, $2, role FROM unnest($3::uuid[], $4::text[]) AS asked (project_id, role)
     JOIN projects USING (project_id) WHERE organization_id = $1`,
    [organizationId, memberId, ids, projects.map(({ role }) => role)],
  )
  if (rowCount !== ids.length) throw notFound.project()
}

/** $1 is the organization; $2 is the id of a plain member, who sees only the members of their own projects. */
export const selectMembers = `
  SELECT member_id, email, name, role, 
    CASE WHEN user_id IS NULL AND provider_subject IS NULL THEN 'invited' ELSE 'active' END AS status, version, created_at, updated_at,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('project_id', project_id, 'role', project_members.role)
       ORDER BY project_members.created_at), '[]')
     FROM project_members
     WHERE project_members.member_id = members.member_id AND ($2::uuid IS NULL OR project_id IN
       (SELECT project_id FROM project_members WHERE member_id = $2))) AS projects
  FROM members WHERE organization_id = $1`

export async function readMember(
  client: Queryable,
  principal: Principal,
  memberId: string,
  lock: '' | 'FOR UPDATE' | 'FOR NO KEY UPDATE' = '',
): Promise<Member> {
  const [member] = await readRecords<Member>(
    client,
    `${selectMembers} AND member_id = $3 ${lock}`,
    [principal.organizationId, plainMemberId(principal), memberId],
  )
  if (!member) throw notFound.member()
  return member
}
