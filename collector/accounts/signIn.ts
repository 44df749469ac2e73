import { unauthorized } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'
import { checkPassword } from './passwords.ts'
import { forgetSignInTries, takeSignInTry } from './signInThrottle.ts'

/**
 * The member whom an e-mail address and a password belong to. Throws 401 "invalid_credentials", which tells neither in
 * words nor in time whether the address is known, and 429 "rate_limited" with Retry-After.
 */
export async function memberWithPassword(
  postgres: Postgres,
  { email: given, password, address }: { email: string; password: string; address: string },
): Promise<{ memberId: string }> {
  const email = given.toLowerCase()
  await takeSignInTry(postgres, address, email)
  const { rows } = await postgres.query<{ member_id: string; password_hash: string | null }>(
    'SELECT member_id, password_hash FROM members WHERE email = $1',
    [email],
  )
  const matches = await checkPassword(rows[0]?.password_hash ?? null, password)
  if (!rows[0] || !matches) throw unauthorized.credentials()
  await forgetSignInTries(postgres, email)
  return { memberId: rows[0].member_id }
}
