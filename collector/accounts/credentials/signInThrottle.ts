import { sha256 } from '../../api/access/authenticate.ts'
import { networkOf } from '../../api/access/network.ts'
import { type Bucket, requireToken } from '../../api/access/tries.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface Attempt {
  address: string
  /** In lower case. */
  email: string
  /** The browser, if a user has signed in with it by this e-mail address before. */
  knownBrowser: string | null
}

/**
 * Limits an address over all names, and more strictly for each name. Also limits a name over all addresses. A
 * known browser has tries of its own, so that nobody can lock a user out. The table stores only hashes of
 * e-mail addresses, because a mistyped one can be anybody's.
 */
function bucketsOf({ address, email, knownBrowser }: Attempt): Bucket[] {
  const [network, name] = [networkOf(address), sha256(email).toString('base64url')]
  if (knownBrowser !== null) {
    return [{ name: `sign_in_browser:${knownBrowser}:${name}`, burst: 10, everySeconds: 30 }]
  }
  return [
    { name: `sign_in_address:${network}`, burst: 50, everySeconds: 1 },
    { name: `sign_in_both:${network}:${name}`, burst: 10, everySeconds: 30 },
    { name: `sign_in_email:${name}`, burst: 100, everySeconds: 30 },
  ]
}

/**
 * Takes one try to sign in; all processes count together. Throws 429 "rate_limited" with Retry-After when
 * none is left, regardless of whether the member exists.
 */
export const takeSignInTry = (postgres: Postgres, attempt: Attempt): Promise<void> =>
  requireToken(postgres, bucketsOf(attempt))

/** Restores the tries of a user who knows the password. Tries by others with the same name still count. */
export async function forgetSignInTries(postgres: Postgres, attempt: Attempt): Promise<void> {
  const own = bucketsOf(attempt)
    .map(({ name }) => name)
    .filter((name) => /^sign_in_(browser|both):/.test(name))
  await postgres.query('DELETE FROM rate_limits WHERE bucket = ANY($1)', [own])
}
