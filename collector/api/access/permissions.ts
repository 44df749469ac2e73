import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { forbidden, invalidParameter, notFound, unauthorized } from '../http/errors.ts'
import { callerId, type KeyRole, keyRoles, type Principal, type Role } from './principal.ts'

/** What a caller may do in one project. */
export interface ProjectGrant {
  projectId: string
  role: 'admin' | 'member'
}

/** What a request needs of a project: to see it, to see who its people are, or to change what is in it. */
export type ProjectNeed = 'read' | 'identity' | 'write'

/** For share links, which no route lets come here: what they open asks only for a scope. */
const mayNothing = () => forbidden('A share link administers nothing.')

export const identityIsForAdmins = () =>
  forbidden('Who people are is for admins of the project to see.')

/** Whether a key of one role may all that one of the other may. */
export const coversRole = (role: KeyRole, other: KeyRole): boolean =>
  keyRoles.indexOf(role) >= keyRoles.indexOf(other)

/** Throws 403 "forbidden" for a key that may less than is needed. */
export function requireKeyRole(role: KeyRole, needed: Exclude<KeyRole, 'owner'>): void {
  if (coversRole(role, needed)) return
  throw forbidden(
    needed === 'admin'
      ? `A key that may only ${role} administers nothing.`
      : 'A key that may only read changes nothing.',
  )
}

/**
 * The most that a key may do which the caller makes or takes over: what the caller may. Of one project, for which
 * they have to be its admin, that is to administer it.
 */
export const highestKeyRole = ({ caller }: Principal, projectId: string | null): KeyRole => {
  if (caller.kind === 'share') throw mayNothing()
  if (caller.role === 'owner') return projectId === null ? 'owner' : 'admin'
  return caller.role === 'member' ? 'admin' : caller.role
}

/**
 * The most that a key may do which a member answers for, of a project or of the organization (null): what they may
 * there, which of a member of a project without more is to write. Null: none at all.
 */
export function highestKeyRoleOf(
  role: Role,
  projectId: string | null,
  projectRole: ProjectGrant['role'] | null,
): KeyRole | null {
  if (role !== 'member') return projectId === null ? role : 'admin'
  if (projectId === null || projectRole === null) return null
  return projectRole === 'admin' ? 'admin' : 'write'
}

/** Whether the caller may act for the whole organization: a key of it that administers, an owner or an admin. */
export const isOrganizationAdmin = ({ projectId, caller }: Principal): boolean =>
  caller.kind === 'key'
    ? projectId === null && coversRole(caller.role, 'admin')
    : caller.kind === 'member' && caller.role !== 'member'

/** Throws 403 "forbidden" unless the caller may act for the whole organization. */
export function requireOrganizationAdmin(principal: Principal): void {
  if (!isOrganizationAdmin(principal))
    throw forbidden('This takes an owner or an admin of the organization.')
}

/** Throws 403 "forbidden" unless the caller is an owner, or a key of the organization that may what owners may. */
export function requireOwner({ projectId, caller }: Principal): void {
  if (projectId !== null || caller.kind === 'share' || caller.role !== 'owner')
    throw forbidden('This takes an owner of the organization.')
}

/**
 * Throws 403 "forbidden" where the caller's role is no longer the one the request was let in with, which is remembered
 * for a second: what they make (a key, an invitation) would outlive it. Locks the caller until the transaction ends.
 */
export async function requireCurrentRole(client: Queryable, { caller }: Principal): Promise<void> {
  if (caller.kind === 'share') throw mayNothing()
  const { rows } = await client.query(
    caller.kind === 'key'
      ? 'SELECT FROM api_keys WHERE key_id = $1 AND role = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) FOR SHARE'
      : 'SELECT FROM members WHERE member_id = $1 AND role = $2 FOR SHARE',
    [callerId({ caller }), caller.role],
  )
  if (rows.length === 0) throw forbidden('Your role has changed. Try again.')
}

/**
 * The project that an administration request acts on, which is the key's own when it names none. Throws 401 "Invalid
 * API key" when a project key names another (spec: Project key), 404 "project not found" for one that
 * is not the caller's to see, and 403 "forbidden" when a project member who is not its admin wants to write.
 */
export async function projectFor(
  postgres: Postgres,
  principal: Principal,
  projectId: string | undefined,
  needs: ProjectNeed,
): Promise<ProjectGrant> {
  const { organizationId, caller } = principal
  if (caller.kind === 'share') throw mayNothing()
  const wanted = projectId?.toLowerCase() ?? principal.projectId
  if (!wanted) throw invalidParameter('project_id', 'is missing')
  if (principal.projectId !== null && wanted !== principal.projectId)
    throw unauthorized.otherProject()
  const { rows } = await postgres.query<{ role: 'admin' | 'member' | null }>(
    `SELECT role FROM projects LEFT JOIN project_members
       ON project_members.project_id = projects.project_id AND member_id = $3
     WHERE projects.project_id = $1 AND organization_id = $2`,
    [wanted, organizationId, caller.kind === 'member' ? caller.memberId : null],
  )
  if (!rows[0]) throw notFound.project()
  const role = caller.kind === 'key' || caller.role !== 'member' ? 'admin' : rows[0].role
  if (role === null) throw notFound.project()
  if (needs === 'write' && role !== 'admin') throw forbidden('This takes an admin of the project.')
  if (needs === 'identity' && role !== 'admin') throw identityIsForAdmins()
  return { projectId: wanted, role }
}
