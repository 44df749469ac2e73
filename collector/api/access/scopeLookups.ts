/** Lookups for the access policy. Its caches pass each as a text: JSON of `Lookup`. */
import { isUuid } from '../../../schemas/uuid.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { ProjectRole } from './principal.ts'

/** The lookup and its caller, which is also the key of the cached answer. */
interface Lookup {
  organizationId: string
  /** The only project that the caller may see; null: all projects of the organization. */
  projectId: string | null
  id: string
}

interface Membership {
  memberId: string
  projectId: string
}

export async function readProjectRole(
  postgres: Postgres,
  key: string,
): Promise<ProjectRole | undefined> {
  const { memberId, projectId } = JSON.parse(key) as Membership
  const { rows } = await postgres.query<{ role: ProjectRole }>(
    'SELECT role FROM project_members WHERE project_id = $1 AND member_id = $2',
    [projectId, memberId],
  )
  return rows[0]?.role
}

export async function isProject(postgres: Postgres, key: string): Promise<boolean> {
  const { organizationId, projectId, id } = JSON.parse(key) as Lookup
  const { rowCount } = await postgres.query(
    `SELECT 1 FROM projects
     WHERE project_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [id, organizationId, projectId],
  )
  return rowCount !== 0
}

export async function readPixel(
  postgres: Postgres,
  key: string,
): Promise<{ active: boolean; project_id: string } | undefined> {
  const { organizationId, projectId, id } = JSON.parse(key) as Lookup
  const { rows } = await postgres.query<{ active: boolean; project_id: string }>(
    `SELECT active, project_id FROM pixels JOIN projects USING (project_id)
     WHERE pixel_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [id, organizationId, projectId],
  )
  return rows[0]
}

export async function readCampaign(
  postgres: Postgres,
  key: string,
): Promise<{ project_id: string } | undefined> {
  const { organizationId, projectId, id } = JSON.parse(key) as Lookup
  if (!isUuid(id)) return undefined
  const { rows } = await postgres.query<{ project_id: string }>(
    `SELECT project_id FROM campaigns JOIN projects USING (project_id)
     WHERE campaign_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [id, organizationId, projectId],
  )
  return rows[0]
}

export async function projectsOfMember(postgres: Postgres, memberId: string): Promise<string[]> {
  const { rows } = await postgres.query<{ project_id: string }>(
    'SELECT project_id FROM project_members WHERE member_id = $1',
    [memberId],
  )
  return rows.map(({ project_id }) => project_id)
}

/**
 * Returns the role in a project of the caller's organization: for a plain member (`memberId`) that of the
 * membership, for others (null) admin. Null for inaccessible projects.
 */
export async function readRoleInProject(
  postgres: Postgres,
  of: { organizationId: string; projectId: string; memberId: string | null },
): Promise<ProjectRole | null> {
  const { rows } = await postgres.query<{ role: ProjectRole | null }>(
    `SELECT CASE WHEN $3::uuid IS NULL THEN 'admin' ELSE role END AS role
     FROM projects LEFT JOIN project_members
       ON project_members.project_id = projects.project_id AND member_id = $3
     WHERE projects.project_id = $1 AND organization_id = $2`,
    [of.projectId, of.organizationId, of.memberId],
  )
  return rows[0]?.role ?? null
}
