import { randomUUID } from 'node:crypto'
import type { Role } from '../../api/access/principal.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/**
 * Makes a user a member without an invitation, with the password of this hash if the e-mail address has none
 * yet. An existing member keeps their role.
 */
export async function storeMember(
  client: Queryable,
  {
    memberId = randomUUID(),
    ...member
  }: {
    memberId?: string
    organizationId: string
    email: string
    name?: string | null
    role: Role
    passwordHash: string
  },
): Promise<void> {
  const email = normalizedEmail(member.email)
  await client.query(
    'INSERT INTO users (email, password_hash) VALUES ($1, $2) ON CONFLICT (email) DO NOTHING',
    [email, member.passwordHash],
  )
  await client.query(
    `INSERT INTO members (member_id, organization_id, email, name, role, user_id)
     SELECT $1, $2, $3, $4, $5, user_id FROM users WHERE email = $3 ON CONFLICT DO NOTHING`,
    [memberId, member.organizationId, email, member.name, member.role],
  )
}
