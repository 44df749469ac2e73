import type { FastifyRequest } from 'fastify'
import { checkPassword } from '../../api/access/passwords.ts'
import { singleSignOnRequired, unauthorized } from '../../api/http/errors.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { requireSecondFactor, type SecondFactorDeps } from '../credentials/secondFactor.ts'
import { type Attempt, forgetSignInTries, takeSignInTry } from '../credentials/signInThrottle.ts'
import { knownBrowserOf } from './knownBrowser.ts'

/** Reads the caller that tries to sign in from a request. */
export const attemptOf = async (
  postgres: Postgres,
  request: FastifyRequest,
  email: string,
  publicUrl: string,
): Promise<Attempt> => ({
  address: request.ip,
  email,
  knownBrowser: await knownBrowserOf(postgres, request, email, publicUrl),
})

/**
 * Returns the user of an e-mail address and a password, as member of the organization they used last. Throws
 * 401 "invalid_credentials", without revealing in text or time whether the address is known. Throws 429
 * "rate_limited" with Retry-After. For a user with a second factor, throws 401 until the code is given.
 */
export async function userWithPassword(
  deps: SecondFactorDeps,
  request: FastifyRequest,
  { email: given, password, code }: { email: string; password: string; code?: string },
  publicUrl: string,
): Promise<{ userId: string; memberId: string; email: string }> {
  const { postgres } = deps
  const email = normalizedEmail(given)
  const attempt = await attemptOf(postgres, request, email, publicUrl)
  await takeSignInTry(postgres, attempt)
  const { rows } = await postgres.query<{
    user_id: string
    password_hash: string
    member_id: string | null
    is_member: boolean
  }>(
    `SELECT user_id, password_hash, (
       SELECT member_id FROM members WHERE members.user_id = users.user_id
       AND takes_password(organization_id, member_id)
       ORDER BY last_used_at DESC NULLS LAST, created_at, member_id LIMIT 1) AS member_id,
       EXISTS (SELECT FROM members WHERE members.user_id = users.user_id) AS is_member
     FROM users WHERE email = $1`,
    [email],
  )
  const matches = await checkPassword(rows[0]?.password_hash ?? null, password)
  if (!matches || !rows[0]?.is_member) throw unauthorized.credentials()
  await forgetSignInTries(postgres, attempt)
  await requireSecondFactor(deps, rows[0].user_id, code, attempt.knownBrowser)
  if (rows[0].member_id === null) throw singleSignOnRequired()
  return { userId: rows[0].user_id, memberId: rows[0].member_id, email }
}
