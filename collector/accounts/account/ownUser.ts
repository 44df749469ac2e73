import type { FastifyRequest } from 'fastify'
import { checkPassword } from '../../api/access/passwords.ts'
import { callerId, type Principal } from '../../api/access/principal.ts'
import { forbidden, invalidParameter, unauthorized } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { forgetSignInTries, takeSignInTry } from '../credentials/signInThrottle.ts'
import { attemptOf } from '../sessions/signIn.ts'

/** A signed-in user, and the member that the request acts as. */
export interface OwnUser {
  userId: string
  memberId: string
  email: string
  name: string | null
}

/** Returns the signed-in user of a request. Throws 401 for users who are no longer members. */
export async function ownUser(client: Queryable, { principal }: FastifyRequest): Promise<OwnUser> {
  requireOwnPassword(principal)
  const { password_hash, ...user } = await readOwn(client, callerId(principal))
  return user
}

/**
 * Returns the signed-in user after checking the password, so that a stolen session cannot take over the account.
 * Throws 400 for a wrong `current_password`, and 429 like sign-in, with which it shares the limit of tries.
 */
export async function ownUserWithPassword(
  postgres: Postgres,
  request: FastifyRequest,
  currentPassword: string,
  publicUrl: string,
): Promise<OwnUser & { knownBrowser: string | null }> {
  requireOwnPassword(request.principal)
  const { password_hash, ...user } = await readOwn(postgres, callerId(request.principal))
  const attempt = await attemptOf(postgres, request, user.email, publicUrl)
  await takeSignInTry(postgres, attempt)
  if (!(await checkPassword(password_hash, currentPassword))) {
    throw invalidParameter('current_password', 'is not your password')
  }
  await forgetSignInTries(postgres, attempt)
  return { ...user, knownBrowser: attempt.knownBrowser }
}

/** Throws 403 for a provider's session, because a provider authenticates for one organization only. */
function requireOwnPassword({ caller }: Principal): void {
  if (caller.kind === 'member' && caller.byProvider)
    throw forbidden(
      'You are signed in through your organization’s identity provider, which manages your account.',
    )
}

async function readOwn(
  client: Queryable,
  memberId: string,
): Promise<OwnUser & { password_hash: string }> {
  const { rows } = await client.query<OwnUser & { password_hash: string }>(
    `SELECT user_id AS "userId", member_id AS "memberId", users.email, name, password_hash
     FROM members JOIN users USING (user_id) WHERE member_id = $1`,
    [memberId],
  )
  // The session cache can outlive the member for a moment.
  if (!rows[0]) throw unauthorized.session()
  return rows[0]
}
