import { requireWholeOrganization } from '../../api/access/permissions.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/**
 * Returns the project of a new webhook, or null for the organization. Throws 403 and 404 like projectFor, and
 * 403 for a plain member who names no project.
 */
export async function ownerOf(
  postgres: Postgres,
  principal: Principal,
  requestedProjectId: string | undefined,
): Promise<string | null> {
  if (requestedProjectId !== undefined || principal.projectId !== null)
    return (await projectFor(postgres, principal, 'records', requestedProjectId, 'write')).projectId
  requireWholeOrganization(principal)
  return null
}
