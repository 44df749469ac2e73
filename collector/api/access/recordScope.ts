import type { Postgres } from '../../platform/postgres/pool.ts'
import { forbidden, projectMismatch } from '../http/errors.ts'
import { isOrganizationAdmin, projectFor } from './permissions.ts'
import type { Principal } from './principal.ts'

/** Whose lists, exports, integrations and campaigns a request is about. */
export interface RecordScope {
  organizationId: string
  /** Null: of every project. */
  projectIds: readonly string[] | null
}

/** Throws 403 "project_id does not match API key scope" when a project key names another project. */
export function requireKeyProject({ projectId }: Principal, asked: string | undefined): void {
  if (projectId !== null && asked !== undefined && asked.toLowerCase() !== projectId)
    throw projectMismatch()
}

/** Throws 403 for a project key that filters by campaign or audience (spec: Project key). */
export function requireFiltersAllowed(
  { projectId }: Principal,
  filters: { campaign_id?: string | undefined; audience_id?: string | undefined },
): void {
  const isFiltered = filters.campaign_id !== undefined || filters.audience_id !== undefined
  if (projectId !== null && isFiltered) {
    throw forbidden(
      'The filters campaign_id and audience_id are not available to a project-scoped API key.',
    )
  }
}

/**
 * Makes the decision whose records a request may read (spec: Project key on lists, on campaigns): those
 * of the project it names, else of the key's, else of all projects that the caller may see. Throws 403 as above, and
 * 404 "project not found".
 */
export function createRecordScopeOf(postgres: Postgres) {
  return async (principal: Principal, asked: string | undefined): Promise<RecordScope> => {
    requireKeyProject(principal, asked)
    const { organizationId, caller } = principal
    const projectIds =
      asked !== undefined || principal.projectId !== null
        ? [(await projectFor(postgres, principal, asked, 'read')).projectId]
        : caller.kind === 'member' && !isOrganizationAdmin(principal)
          ? await projectsOfMember(postgres, caller.memberId)
          : null
    return { organizationId, projectIds }
  }
}

async function projectsOfMember(postgres: Postgres, memberId: string): Promise<string[]> {
  const { rows } = await postgres.query<{ project_id: string }>(
    'SELECT project_id FROM project_members WHERE member_id = $1',
    [memberId],
  )
  return rows.map(({ project_id }) => project_id)
}
