import type { FastifyRequest } from 'fastify'
import { checkPassword } from '../../api/access/passwords.ts'
import { ApiError, singleSignOnRequired, unauthorized } from '../../api/http/errors.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { requireSecondFactor, type SecondFactorDeps } from '../credentials/secondFactor.ts'
import { type Attempt, forgetSignInTries, takeSignInTry } from '../credentials/signInThrottle.ts'
import { knownBrowserOf } from './knownBrowser.ts'
import { auditFailedSignIn, auditSignIn } from './signInAudit.ts'

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
 * "rate_limited" with Retry-After. For a user with a second factor, throws 401 until the code is given. The
 * audit log has each sign-in and failed ones.
 */
export async function userWithPassword(
  deps: SecondFactorDeps,
  request: FastifyRequest,
  { email: rawEmail, password, code }: { email: string; password: string; code?: string },
  publicUrl: string,
): Promise<{ userId: string; memberId: string; email: string }> {
  const { postgres } = deps
  const email = normalizedEmail(rawEmail)
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
  await requirePassword(postgres, request, rows[0], password)
  if (!rows[0]?.is_member) throw unauthorized.credentials()
  await forgetSignInTries(postgres, attempt)
  await requireCode(deps, request, rows[0].user_id, code, attempt.knownBrowser)
  if (rows[0].member_id === null) throw singleSignOnRequired()
  await auditSignIn(postgres, rows[0].user_id, request)
  return { userId: rows[0].user_id, memberId: rows[0].member_id, email }
}

/** Throws 401 "invalid_credentials" and records it, if a user has the address but not the password. */
export async function requirePassword(
  postgres: Postgres,
  request: FastifyRequest,
  user: { user_id: string; password_hash: string } | undefined,
  password: string,
): Promise<void> {
  if (await checkPassword(user?.password_hash ?? null, password)) return
  if (user) {
    // Not awaited, because its duration would reveal that a user has the address.
    auditFailedSignIn(postgres, user.user_id, request, 'password').catch((error: Error) =>
      request.log.warn({ error: error.message }, 'cannot record a failed sign-in'),
    )
  }
  throw unauthorized.credentials()
}

/** `requireSecondFactor` that records a wrong code. */
export async function requireCode(
  deps: SecondFactorDeps,
  request: FastifyRequest,
  userId: string,
  code: string | undefined,
  knownBrowser: string | null,
): Promise<void> {
  try {
    await requireSecondFactor(deps, userId, code, knownBrowser)
  } catch (error) {
    if (error instanceof ApiError && error.error === 'invalid_code')
      await auditFailedSignIn(deps.postgres, userId, request, 'code')
    throw error
  }
}
