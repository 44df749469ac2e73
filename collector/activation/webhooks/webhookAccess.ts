import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { forbidden } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/**
 * The project of a new webhook, or null for the whole organization. Throws 403 and 404 like projectFor, and 403 for a
 * plain member who names no project.
 */
export async function ownerOf(
  postgres: Postgres,
  principal: Principal,
  asked: string | undefined,
): Promise<string | null> {
  if (asked !== undefined || principal.projectId !== null)
    return (await projectFor(postgres, principal, 'records', asked, 'write')).projectId
  requireWholeOrganization(principal)
  return null
}

/** Throws 403 for who may not change a webhook of this project, or of the whole organization (null). */
export async function requireWritable(
  postgres: Postgres,
  principal: Principal,
  projectId: string | null,
): Promise<void> {
  if (projectId === null) requireWholeOrganization(principal)
  else await projectFor(postgres, principal, 'records', projectId, 'write')
}

function requireWholeOrganization({ caller }: Principal): void {
  if (caller.kind === 'member' && caller.role === 'member')
    throw forbidden('This requires the owner or admin role in the organization.')
}
