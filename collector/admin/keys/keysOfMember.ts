import { type Static, Type } from 'typebox'
import { audit } from '../../access/audit.ts'
import { coversRole, highestKeyRole } from '../../access/permissions.ts'
import type { Principal } from '../../access/principal.ts'
import { conflict } from '../../http/errors.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { type KeyRow, revokeKey, selectKeys, toKey } from './apiKeys.ts'

/** What becomes of the keys that a member has made when the member is removed. */
export const KeysChoice = Type.Union([Type.Literal('revoke'), Type.Literal('hand_over')], {
  description:
    'Of the keys they made: `revoke` ends them, `hand_over` makes whoever removes the member answer for them; such ' +
    'a key then may no more than its new holder.',
})

/**
 * Revokes the keys that a member has made, or hands them over to the caller. Throws 409 "conflict", with the keys,
 * when there are some and nothing was chosen. Call it in the transaction that removes the member.
 */
export async function settleKeys(
  client: Queryable,
  principal: Principal,
  memberId: string,
  choice: Static<typeof KeysChoice> | undefined,
): Promise<void> {
  const { rows } = await client.query<KeyRow>(`${selectKeys} AND created_by_member_id = $2 FOR UPDATE`, [
    ...[principal.organizationId, memberId],
  ])
  if (rows.length === 0) return
  if (choice === undefined) {
    throw conflict('They have made API keys: say with api_keys whether to revoke or to hand_over these.', {
      api_keys: rows.map(toKey),
    })
  }
  for (const key of rows) {
    if (choice === 'revoke') await revokeKey(client, principal, key)
    else await handOver(client, principal, key)
  }
}

/** The caller's own, or of a caller that is a key its maker's. */
async function handOver(
  client: Queryable,
  principal: Principal,
  { key_id, name, project_id, role }: KeyRow,
): Promise<void> {
  const most = highestKeyRole(principal, project_id)
  const newRole = coversRole(most, role) ? role : most
  const { caller } = principal
  await client.query(
    `UPDATE api_keys SET role = $2, created_by_member_id = holder.member_id, created_by = holder.email
     FROM (SELECT (SELECT created_by_member_id FROM api_keys WHERE key_id = $3) AS of_key) AS asked
       LEFT JOIN members holder ON holder.member_id = coalesce($4, of_key)
     WHERE key_id = $1`,
    [...[key_id, newRole], ...(caller.kind === 'key' ? [caller.keyId, null] : [null, caller.memberId])],
  )
  await audit(client, principal, 'key.hand_over', { kind: 'key', id: key_id }, { name, role: newRole })
}
