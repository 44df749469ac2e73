import { isOrganizationAdmin } from './permissions.ts'
import type { Principal } from './principal.ts'

/**
 * Returns the member id of a plain member, who sees only their own projects, for a bound SQL parameter. Null
 * for other callers, whose key or role decides.
 */
export const plainMemberId = (principal: Principal): string | null =>
  principal.caller.kind === 'member' && !isOrganizationAdmin(principal)
    ? principal.caller.memberId
    : null

/**
 * Returns the SQL condition that the caller may see the project in `column`. `projectParameter` is bound to
 * the principal's projectId, `memberParameter` to plainMemberId.
 */
export const isVisibleProject = (
  column: string,
  projectParameter: string,
  memberParameter: string,
): string =>
  `(${projectParameter}::uuid IS NULL OR ${column} = ${projectParameter})
   AND (${memberParameter}::uuid IS NULL OR ${column} IN
     (SELECT project_id FROM project_members WHERE member_id = ${memberParameter}))`
