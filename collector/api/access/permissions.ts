import type { Queryable } from '../../platform/postgres/transaction.ts'
import { forbidden } from '../http/errors.ts'
import {
  callerId,
  type KeyRole,
  keyRoles,
  type Principal,
  type ProjectRole,
  type Role,
} from './principal.ts'

/** The rights of share links here: none, because the routes of share links only check a scope. */
const mayNothing = () => forbidden('Share links cannot administer anything.')

export const coversRole = (role: KeyRole, other: KeyRole): boolean =>
  keyRoles.indexOf(role) >= keyRoles.indexOf(other)

/** Throws 403 "forbidden" if the key's role is below the required one. */
export function requireKeyRole(role: KeyRole, needed: Exclude<KeyRole, 'owner'>): void {
  if (coversRole(role, needed)) return
  throw forbidden(
    needed === 'admin'
      ? `Keys with the role ${role} cannot administer anything.`
      : 'Read-only keys cannot change anything.',
  )
}

/**
 * Returns the highest role of a key that the caller may create or take over: the caller's own. An admin of
 * one project may create a key that administers it.
 */
export const highestKeyRole = ({ caller }: Principal, projectId: string | null): KeyRole => {
  if (caller.kind === 'share') throw mayNothing()
  if (caller.role === 'owner') return projectId === null ? 'owner' : 'admin'
  return caller.role === 'member' ? 'admin' : caller.role
}

/**
 * Returns the highest role of a member's key for a project, or for the organization (null): the member's own
 * role there. For a plain member of a project it is write. Null: no key.
 */
export function highestKeyRoleOf(
  role: Role,
  projectId: string | null,
  projectRole: ProjectRole | null,
): KeyRole | null {
  if (role !== 'member') return projectId === null ? role : 'admin'
  if (projectId === null || projectRole === null) return null
  return projectRole === 'admin' ? 'admin' : 'write'
}

/** Whether the caller may act for the organization: an admin, an owner, or a key with such a role. */
export const isOrganizationAdmin = ({ projectId, caller }: Principal): boolean =>
  caller.kind === 'key'
    ? projectId === null && coversRole(caller.role, 'admin')
    : caller.kind === 'member' && caller.role !== 'member'

/** Throws 403 "forbidden" unless the caller may act for the organization. */
export function requireOrganizationAdmin(principal: Principal): void {
  if (!isOrganizationAdmin(principal))
    throw forbidden('This requires the owner or admin role in the organization.')
}

/** Throws 403 "forbidden" for a plain member. Keys pass: their scope decides which records they reach. */
export function requireWholeOrganization({ caller }: Principal): void {
  if (caller.kind === 'member' && caller.role === 'member')
    throw forbidden('This takes an owner or an admin of the organization.')
}

/** Throws 403 "forbidden" unless the caller is an owner, or a key of the organization with role owner. */
export function requireOwner({ projectId, caller }: Principal): void {
  if (projectId !== null || caller.kind === 'share' || caller.role !== 'owner')
    throw forbidden('This requires the owner role in the organization.')
}

/**
 * Throws 403 "forbidden" if the caller lost the role that admitted the request, which is cached for a second.
 * Otherwise a new key or invitation would outlive the role. Locks the caller until the transaction ends.
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
