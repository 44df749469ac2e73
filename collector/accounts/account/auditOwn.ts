import { audit } from '../../api/access/audit.ts'
import type { Role } from '../../api/access/principal.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Records a user's change of their own account in the audit log of each of their organizations. */
export async function auditOwn(
  client: Queryable,
  userId: string,
  action: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  const { rows } = await client.query<{ member_id: string; organization_id: string; role: Role }>(
    'SELECT member_id, organization_id, role FROM members WHERE user_id = $1',
    [userId],
  )
  for (const { member_id: memberId, organization_id: organizationId, role } of rows) {
    const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
    await audit(client, actor, action, { kind: 'member', id: memberId }, details)
  }
}
