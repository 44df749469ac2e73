import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { administeredProject } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter, notFound } from '../../api/http/errors.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { Email, ProjectRole } from '../accountSchemas.ts'
import { KeysChoice, settleKeys } from '../keys/keysOfMember.ts'
import { type ProjectMember, readProjectMember } from './projectMembers.ts'

export const NewProjectMember = strictObject({
  project_id: Id,
  member_id: Type.Optional(Id),
  email: Type.Optional(Email),
  role: ProjectRole,
})

/** Throws 400 without a member, 403, 404, and 409 "conflict" for an existing member of the project. */
export async function addProjectMember(
  postgres: Postgres,
  principal: Principal,
  { project_id, member_id, email, role }: Static<typeof NewProjectMember>,
): Promise<ProjectMember> {
  if ((member_id === undefined) === (email === undefined)) {
    throw invalidParameter('member_id', 'requires member_id or email')
  }
  const projectId = await administeredProject(postgres, principal, project_id, 'write')
  return inTransaction(postgres, async (client) => {
    const memberRows = await client.query<{ member_id: string }>(
      `SELECT member_id FROM members
       WHERE organization_id = $1 AND (member_id = $2 OR email = $3)`,
      [principal.organizationId, member_id, email?.toLowerCase()],
    )
    if (!memberRows.rows[0]) throw notFound.member()
    const memberId = memberRows.rows[0].member_id
    const added = await client.query(
      'INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [projectId, memberId, role],
    )
    const member = await readProjectMember(client, projectId, memberId)
    if (added.rowCount === 0) {
      throw conflict('already_exists', 'This user is already a member of the project.', {
        project_member: member,
      })
    }
    await audit(client, principal, 'project_member.create', objectOf(member), detailsOf(member))
    return member
  })
}

export const ProjectMemberChange = strictObject({
  project_id: Id,
  member_id: Id,
  role: ProjectRole,
  api_keys: Type.Optional(KeysChoice),
})

/** Throws 403, 404, and 409 if the request must choose what happens to the member's keys. */
export async function changeProjectMember(
  postgres: Postgres,
  principal: Principal,
  { project_id, member_id, role, api_keys }: Static<typeof ProjectMemberChange>,
): Promise<ProjectMember> {
  const projectId = await administeredProject(postgres, principal, project_id, 'write')
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
    const member = await readProjectMember(client, projectId, member_id)
    const details = { project_id: projectId, ...changesOf(before, member) }
    await audit(client, principal, 'project_member.update', objectOf(member), details)
    return member
  })
}

export const ProjectMemberRemoval = strictObject({
  project_id: Id,
  member_id: Id,
  api_keys: Type.Optional(KeysChoice),
})

/** Throws as changeProjectMember does. */
export async function removeProjectMember(
  postgres: Postgres,
  principal: Principal,
  { project_id, member_id, api_keys }: Static<typeof ProjectMemberRemoval>,
): Promise<void> {
  const projectId = await administeredProject(postgres, principal, project_id, 'write')
  await inTransaction(postgres, async (client) => {
    const member = await readProjectMember(
      client,
      projectId,
      member_id,
      'FOR UPDATE OF project_members',
    )
    await client.query('DELETE FROM project_members WHERE project_id = $1 AND member_id = $2', [
      projectId,
      member_id,
    ])
    await settleKeys(client, principal, member_id, api_keys, { projectId })
    await audit(client, principal, 'project_member.delete', objectOf(member), detailsOf(member))
  })
}

const objectOf = ({ member_id }: ProjectMember) => ({
  kind: 'project_member' as const,
  id: member_id,
})
const detailsOf = ({ project_id, email, role }: ProjectMember) => ({ project_id, email, role })
