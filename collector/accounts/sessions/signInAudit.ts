import type { FastifyRequest } from 'fastify'
import { audit } from '../../api/access/audit.ts'
import type { Role } from '../../api/access/principal.ts'
import { takeTokens } from '../../api/access/tries.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Records a sign-in with a password in the audit log of each organization that it opens. */
export const auditSignIn = (client: Queryable, userId: string, { ip }: FastifyRequest) =>
  auditInOrganizations(client, userId, 'member.sign_in', { by: 'password', address: ip })

/** Records a failed sign-in in the same logs: of a user ten at once, then one in ten minutes. */
export async function auditFailedSignIn(
  postgres: Postgres,
  userId: string,
  { ip }: FastifyRequest,
  reason: 'password' | 'code',
): Promise<void> {
  const { refused } = await takeTokens(postgres, [
    { name: `failed_sign_in_entries:${userId}`, burst: 10, everySeconds: 600 },
  ])
  if (refused === 0)
    await auditInOrganizations(postgres, userId, 'member.sign_in_failed', { reason, address: ip })
}

async function auditInOrganizations(
  client: Queryable,
  userId: string,
  action: string,
  details: Record<string, unknown>,
): Promise<void> {
  const { rows } = await client.query<{ member_id: string; organization_id: string; role: Role }>(
    `SELECT member_id, organization_id, role FROM members
     WHERE user_id = $1 AND takes_password(organization_id, member_id)`,
    [userId],
  )
  for (const { member_id: memberId, organization_id: organizationId, role } of rows) {
    const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
    await audit(client, actor, action, { kind: 'member', id: memberId }, details)
  }
}
