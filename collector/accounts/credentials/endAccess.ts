import { sha256 } from '../../api/access/authenticate.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/**
 * Ends all access to an account except the kept session. This includes other sessions, legacy tokens, links
 * for a new password, a pending change of the e-mail address and an unconfirmed second factor. Returns the
 * number of ended sessions. Call it in a transaction.
 */
export async function endAccess(
  client: Queryable,
  userId: string,
  keptSession: string | null,
): Promise<number> {
  const { rowCount } = await client.query(
    'DELETE FROM sessions WHERE user_id = $1 AND session_sha256 IS DISTINCT FROM $2',
    [userId, keptSession && sha256(keptSession)],
  )
  await client.query('UPDATE users SET signed_out_at = now() WHERE user_id = $1', [userId])
  await client.query('DELETE FROM password_resets WHERE user_id = $1', [userId])
  await client.query('DELETE FROM email_changes WHERE user_id = $1', [userId])
  await client.query('DELETE FROM second_factors WHERE user_id = $1 AND confirmed_at IS NULL', [
    userId,
  ])
  return rowCount!
}
