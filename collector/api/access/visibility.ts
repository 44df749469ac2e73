import { isOrganizationAdmin } from './permissions.ts'
import type { Principal } from './principal.ts'

/**
 * A plain member sees only the projects they belong to: their id, to be bound in SQL. Null for everyone else, who see
 * what their key or role says.
 */
export const plainMemberId = (principal: Principal): string | null =>
  principal.caller.kind === 'member' && !isOrganizationAdmin(principal)
    ? principal.caller.memberId
    : null

/**
 * SQL for "the project `column` is the caller's to see": `projectParameter` is bound to the principal's projectId,
 * `memberParameter` to plainMemberId.
 */
export const isVisibleProject = (
  column: string,
  projectParameter: string,
  memberParameter: string,
): string =>
  `(${projectParameter}::uuid IS NULL OR ${column} = ${projectParameter})
   AND (${memberParameter}::uuid IS NULL OR ${column} IN
     (SELECT project_id FROM project_members WHERE member_id = ${memberParameter}))`
