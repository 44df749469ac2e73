import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { coversRole, highestKeyRole, highestKeyRoleOf } from '../../api/access/permissions.ts'
import type { ProjectGrant } from '../../api/access/policy.ts'
import { callerId, type KeyRole, type Principal, type Role } from '../../api/access/principal.ts'
import { conflict, invalidParameter } from '../../api/http/errors.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { type Key, revokeKey, selectKeys } from './apiKeys.ts'

/** The choice for keys of a member that exceed the member's new rights: revoke them or transfer them. */
export const KeysChoice = Type.Union([Type.Literal('revoke'), Type.Literal('hand_over')], {
  description:
    'For the member’s keys that would exceed their new role. `revoke` ends these keys. `hand_over` makes the caller their holder; such a key has at most the role of its holder.',
})
type KeysChoice = Static<typeof KeysChoice>

/** The project with the keys in question, if any, and whether the member will be removed from the organization. */
interface KeysScope {
  projectId?: string
  isRemoved?: boolean
}

/**
 * Revokes the member's keys that exceed the member's role, or hands them over to the caller. Throws 409 "conflict"
 * with the keys if the caller has not chosen. Call it in the same transaction, after a change of the role or before
 * the removal of the member.
 */
export async function settleKeys(
  client: Queryable,
  principal: Principal,
  memberId: string,
  choice: KeysChoice | undefined,
  { projectId, isRemoved = false }: KeysScope = {},
): Promise<void> {
  const made = await readRecords<Key>(
    client,
    `${selectKeys} AND created_by_member_id = $2 AND ($3::uuid IS NULL OR project_id = $3) FOR UPDATE`,
    [principal.organizationId, memberId, projectId],
  )
  const highestRoleIn = isRemoved ? () => null : await highestKeyRolesOf(client, memberId)
  const rows = made.filter(({ role, project_id }) => {
    const highest = highestRoleIn(project_id)
    return highest === null || !coversRole(highest, role)
  })
  if (rows.length === 0) return
  if (choice === undefined) {
    throw conflict('in_use', 'This member created API keys. Set api_keys to revoke or hand_over.', {
      api_keys: rows,
    })
  }
  const holder = choice === 'hand_over' ? await holderOf(client, principal) : null
  if (holder?.member_id === memberId) {
    throw invalidParameter(
      'api_keys',
      'you already hold these keys: revoke them, or let another admin take them over',
    )
  }
  for (const key of rows) {
    if (choice === 'revoke') await revokeKey(client, principal, key)
    else await handOver(client, principal, holder, key)
  }
}

/** Returns the highest role of the member's keys by project; null is the organization. */
async function highestKeyRolesOf(
  client: Queryable,
  memberId: string,
): Promise<(projectId: string | null) => KeyRole | null> {
  const { rows } = await client.query<{
    role: Role
    projects: Record<string, ProjectGrant['role']>
  }>(
    `SELECT role, (SELECT coalesce(jsonb_object_agg(project_id, project_members.role), '{}')
       FROM project_members WHERE project_members.member_id = members.member_id) AS projects
     FROM members WHERE member_id = $1`,
    [memberId],
  )
  const { role, projects } = rows[0]!
  return (projectId) =>
    highestKeyRoleOf(role, projectId, projectId === null ? null : (projects[projectId] ?? null))
}

interface Holder {
  member_id: string
  email: string
}

/** The caller, or for a key the member who created it. Null if the operator created it. */
async function holderOf(client: Queryable, { caller }: Principal): Promise<Holder | null> {
  const { rows } = await client.query<Holder>(
    caller.kind === 'key'
      ? `SELECT member_id, email FROM members
         WHERE member_id = (SELECT created_by_member_id FROM api_keys WHERE key_id = $1)`
      : 'SELECT member_id, email FROM members WHERE member_id = $1',
    [callerId({ caller })],
  )
  return rows[0] ?? null
}

async function handOver(
  client: Queryable,
  principal: Principal,
  holder: Holder | null,
  { key_id, name, project_id, role }: Key,
): Promise<void> {
  const highestRole = highestKeyRole(principal, project_id)
  const newRole = coversRole(highestRole, role) ? role : highestRole
  await client.query(
    'UPDATE api_keys SET role = $2, created_by_member_id = $3, created_by = $4 WHERE key_id = $1',
    [key_id, newRole, holder?.member_id, holder?.email],
  )
  await audit(
    client,
    principal,
    'key.hand_over',
    { kind: 'key', id: key_id },
    { name, role: newRole },
  )
}
