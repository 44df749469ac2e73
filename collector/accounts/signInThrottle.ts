import { sha256 } from '../access/authenticate.ts'
import { ApiError } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'

/** Tries that one address, and one e-mail address, has at once; and after how many seconds it gains another. */
const perAddress = { burst: 50, everySeconds: 1 }
const perEmail = { burst: 10, everySeconds: 30 }

/** The e-mail address is hashed: whoever mistypes theirs is not kept. */
const emailBucket = (email: string) => `sign_in_email:${sha256(email).toString('base64url')}`

/**
 * Takes one try to sign in; all processes count together. Throws 429 "rate_limited" with Retry-After when the client's
 * address or the e-mail address has none left, whether or not there is such a member.
 */
export async function takeSignInTry(postgres: Postgres, address: string, email: string): Promise<void> {
  const { rows } = await postgres.query<{ refused: number; wait_seconds: number }>(
    'SELECT refused, wait_seconds FROM take_tokens($1, $2, $3)',
    [
      [`sign_in_address:${address}`, emailBucket(email)],
      [perAddress.everySeconds, perEmail.everySeconds],
      [perAddress.burst, perEmail.burst],
    ],
  )
  const { refused, wait_seconds } = rows[0]!
  if (refused === 0) return
  throw new ApiError(429, 'rate_limited', 'Too many tries to sign in: wait, then try again.', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(wait_seconds))) },
  })
}

/** Whoever knows the password has all tries back. */
export async function forgetSignInTries(postgres: Postgres, email: string): Promise<void> {
  await postgres.query('DELETE FROM rate_limits WHERE bucket = $1', [emailBucket(email)])
}
