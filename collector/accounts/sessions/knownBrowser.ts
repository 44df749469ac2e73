import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { serviceSecret } from '../../api/access/serviceSecret.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** The time for which a browser is known after its last sign-in. */
const knownDays = 365

const cookieName = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-footfall_browser' : 'footfall_browser'

/**
 * Returns which browser of a user with this e-mail address sent a request; null for an unknown one. Its
 * cookie is signed for the address, which it does not contain, and alone gives no access. A sign-in from
 * before the account was secured does not count, because an attacker may have collected such cookies to have
 * more tries.
 */
export async function knownBrowserOf(
  postgres: Postgres,
  request: FastifyRequest,
  email: string,
  publicUrl: string,
): Promise<string | null> {
  const cookie = parseCookie(request.headers.cookie ?? '')[cookieName(publicUrl)]
  const [since, id, signature, ...rest] = cookie?.split('.') ?? []
  if (!since || !id || !signature || rest.length > 0) return null
  if (!(Number(since) > Date.now() / 1000 - knownDays * 86_400)) return null
  const expected = await sign(postgres, since, id, email)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  return (await wasSecuredSince(postgres, email, Number(since))) ? null : id
}

/** Whether the account has had another password, the end of all sessions or a second factor since then. */
async function wasSecuredSince(
  postgres: Postgres,
  email: string,
  sinceSeconds: number,
): Promise<boolean> {
  const { rowCount } = await postgres.query(
    `SELECT FROM users LEFT JOIN second_factors USING (user_id)
     WHERE email = $1
       AND floor(extract(epoch FROM greatest(password_changed_at, signed_out_at, confirmed_at))) > $2`,
    [email, sinceSeconds],
  )
  return rowCount! > 0
}

/** Makes the browser known for this e-mail address. */
export async function rememberBrowser(
  postgres: Postgres,
  reply: FastifyReply,
  email: string,
  publicUrl: string,
): Promise<void> {
  const [since, id] = [String(Math.floor(Date.now() / 1000)), randomBytes(12).toString('base64url')]
  const signature = (await sign(postgres, since, id, email)).toString('base64url')
  reply.header(
    'set-cookie',
    stringifySetCookie({
      name: cookieName(publicUrl),
      value: `${since}.${id}.${signature}`,
      maxAge: knownDays * 86_400,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: publicUrl.startsWith('https:'),
    }),
  )
}

const sign = async (
  postgres: Postgres,
  since: string,
  id: string,
  email: string,
): Promise<Buffer> =>
  createHmac('sha256', await serviceSecret(postgres, 'browser_key'))
    .update(`${since}.${id}.${email}`)
    .digest()
