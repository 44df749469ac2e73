import { randomBytes } from 'node:crypto'
import { sha256 } from '../../api/access/authenticate.ts'
import { conflict, notFound } from '../../api/http/errors.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { emailChangedNotice } from '../credentials/notices.ts'
import { auditOwn } from './auditOwn.ts'

const linkMinutes = 60

/** Creates the link that proves a new e-mail address; null if another user has it. Earlier links end. */
export async function newEmailChangeLink(
  client: Queryable,
  userId: string,
  email: string,
  publicUrl: string,
): Promise<string | null> {
  const token = randomBytes(32).toString('base64url')
  const { rowCount } = await client.query(
    `INSERT INTO email_changes (user_id, email, token_sha256, expires_at)
     SELECT $1, $2, $3, now() + $4 * interval '1 minute' WHERE NOT EXISTS (SELECT FROM users WHERE email = $2)
     ON CONFLICT (user_id) DO UPDATE
       SET email = excluded.email, token_sha256 = excluded.token_sha256, expires_at = excluded.expires_at`,
    [userId, email, sha256(token), linkMinutes],
  )
  return rowCount === 0 ? null : `${publicUrl}/email-change/${token}`
}

/** The address that a link is for. Throws 404 "email change not found". */
export async function readEmailChange(
  client: Queryable,
  token: string,
): Promise<{ email: string }> {
  const { rows } = await client.query<{ email: string }>(
    'SELECT email FROM email_changes WHERE token_sha256 = $1 AND expires_at > now()',
    [sha256(token)],
  )
  if (!rows[0]) throw notFound.emailChange()
  return rows[0]
}

/**
 * Uses a link of this user: they sign in with the new address, which is returned. Call it in a transaction.
 * Throws 404 "email change not found", also for another user's link and for an address that another user took
 * meanwhile.
 */
export async function useEmailChange(
  client: Queryable,
  userId: string,
  token: string,
): Promise<string> {
  const { rows } = await client.query<{ email: string }>(
    `DELETE FROM email_changes WHERE user_id = $1 AND token_sha256 = $2 AND expires_at > now() RETURNING email`,
    [userId, sha256(token)],
  )
  if (!rows[0]) throw notFound.emailChange()
  await changeEmail(client, userId, rows[0].email)
  return rows[0].email
}

/**
 * Gives a user another address, here and in every organization, and reports it to the old and the new address. Links
 * for new passwords that were sent to the old address end. Call it in a transaction.
 */
export async function changeEmail(client: Queryable, userId: string, email: string): Promise<void> {
  const { rows: users } = await client.query<{ email: string }>(
    'SELECT email FROM users WHERE user_id = $1 FOR UPDATE',
    [userId],
  )
  const before = users[0]!.email
  const { rows: invited } = await client.query<{ name: string }>(
    `SELECT organizations.name FROM members invited JOIN members own USING (organization_id)
       JOIN organizations USING (organization_id)
     WHERE own.user_id = $1 AND invited.email = $2 AND invited.user_id IS DISTINCT FROM $1 LIMIT 1`,
    [userId, email],
  )
  if (invited[0])
    throw conflict(
      'already_exists',
      `This address has a pending invitation to ${invited[0].name}. Ask the organization to withdraw it first.`,
    )
  const { rowCount } = await client.query(
    `UPDATE users SET email = $2, email_proven_at = coalesce(email_proven_at, now())
     WHERE user_id = $1 AND NOT EXISTS (SELECT FROM users WHERE email = $2)`,
    [userId, email],
  )
  if (rowCount === 0) throw notFound.emailChange()
  await client.query(
    'UPDATE members SET email = $2, version = version + 1, updated_at = now() WHERE user_id = $1',
    [userId, email],
  )
  await client.query('DELETE FROM password_resets WHERE user_id = $1', [userId])
  await auditOwn(client, userId, 'member.email', { email: { from: before, to: email } })
  for (const address of [before, email])
    await mailTo(client, address, emailChangedNotice(before, email))
}
