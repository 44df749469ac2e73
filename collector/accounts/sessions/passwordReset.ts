import { randomBytes } from 'node:crypto'
import { audit } from '../../api/access/audit.ts'
import { sha256 } from '../../api/access/authenticate.ts'
import type { Role } from '../../api/access/principal.ts'
import { notFound } from '../../api/http/errors.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { endAccess } from '../credentials/endAccess.ts'
import { passwordResetNotice } from '../credentials/notices.ts'
import { removeUnprovenFactor } from '../credentials/secondFactor.ts'

/** The lifetime of links. Operators pass on printed links by hand, so these last longer. */
export const linkMinutes = { mailed: 60, printed: 24 * 60 } as const

/** Creates the link by which a user chooses a new password; null without such a user. Earlier links end. */
export async function newPasswordResetLink(
  client: Queryable,
  email: string,
  minutes: number,
  publicUrl: string,
): Promise<string | null> {
  const token = randomBytes(32).toString('base64url')
  const { rowCount } = await client.query(
    `INSERT INTO password_resets (user_id, token_sha256, expires_at)
     SELECT user_id, $2, now() + $3 * interval '1 minute' FROM users WHERE email = $1
     ON CONFLICT (user_id) DO UPDATE
       SET token_sha256 = excluded.token_sha256, expires_at = excluded.expires_at`,
    [normalizedEmail(email), sha256(token), minutes],
  )
  return rowCount === 0 ? null : `${publicUrl}/reset-password/${token}`
}

/** Reads the user of a link. Throws 404 "password reset not found". */
export async function readPasswordReset(
  client: Queryable,
  token: string,
): Promise<{ email: string }> {
  const { rows } = await client.query<{ email: string }>(
    `SELECT email FROM password_resets JOIN users USING (user_id) WHERE token_sha256 = $1 AND expires_at > now()`,
    [sha256(token)],
  )
  if (!rows[0]) throw notFound.passwordReset()
  return rows[0]
}

/**
 * Sets the new password of a link's user, which proves their address. Ends all earlier access: sessions,
 * tokens, links, pending changes, and a second factor from before the address was proven. Returns the user. Call it in
 * a transaction. Throws 404 "password reset not found".
 */
export async function usePasswordReset(
  client: Queryable,
  token: string,
  passwordHash: string,
): Promise<{ userId: string; email: string }> {
  const { rows } = await client.query<{ user_id: string; email: string }>(
    `DELETE FROM password_resets USING users WHERE users.user_id = password_resets.user_id
       AND token_sha256 = $1 AND expires_at > now() RETURNING users.user_id, email`,
    [sha256(token)],
  )
  if (!rows[0]) throw notFound.passwordReset()
  const { user_id: userId, email } = rows[0]
  const isFactorRemoved = await removeUnprovenFactor(client, userId)
  await client.query(
    `UPDATE users SET password_hash = $2, password_changed_at = now(),
       email_proven_at = coalesce(email_proven_at, now()) WHERE user_id = $1`,
    [userId, passwordHash],
  )
  await endAccess(client, userId, null)
  await mailTo(client, email, passwordResetNotice(isFactorRemoved))
  const members = await client.query<{ member_id: string; organization_id: string; role: Role }>(
    'SELECT member_id, organization_id, role FROM members WHERE user_id = $1',
    [userId],
  )
  for (const { member_id: memberId, organization_id: organizationId, role } of members.rows) {
    const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
    await audit(client, actor, 'member.password_reset', { kind: 'member', id: memberId })
  }
  return { userId, email }
}

/**
 * Returns the member as whom the user of a link is signed in: of the organization used last. Null if a sign-in needs more
 * than the password: a second factor, or an identity provider.
 */
export async function memberOfLink(client: Queryable, userId: string): Promise<string | null> {
  const { rows } = await client.query<{ member_id: string }>(
    `SELECT member_id FROM members WHERE user_id = $1 AND takes_password(organization_id, member_id)
       AND NOT EXISTS (SELECT FROM second_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL)
     ORDER BY last_used_at DESC NULLS LAST, created_at, member_id LIMIT 1`,
    [userId],
  )
  return rows[0]?.member_id ?? null
}
