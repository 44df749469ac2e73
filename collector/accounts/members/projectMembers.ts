import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { ProjectRole } from '../accountSchemas.ts'

export const ProjectMember = Type.Object(
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
export type ProjectMember = Static<typeof ProjectMember>

export const selectProjectMembers = `
  SELECT project_id, member_id, email, name, project_members.role, project_members.created_at
  FROM project_members JOIN members USING (member_id)`

export async function readProjectMember(
  client: Queryable,
  projectId: string,
  memberId: string,
  lock: '' | 'FOR UPDATE OF project_members' = '',
): Promise<ProjectMember> {
  const [member] = await readRecords<ProjectMember>(
    client,
    `${selectProjectMembers} WHERE project_id = $1 AND member_id = $2 ${lock}`,
    [projectId, memberId],
  )
  if (!member) throw notFound.projectMember()
  return member
}
