/** Single sign-on of one organization as a browser does it, with a provider that signs whatever a test wants. */
import { randomUUID } from 'node:crypto'
import type { TokenIssuer } from '../../harness/tokenIssuer.ts'
import type { Accounts, Caller, Json } from './harness.ts'

const clientId = 'footfall'

/** Connects the issuer to the organization of these accounts. */
export async function connect(it: Accounts, { issuer }: TokenIssuer, more: object = {}) {
  const members = (await it.done(it.owner, 'GET /api/v1/organization/user/list')).members
  const owner = members.find(({ email }: Json) => email === it.demo.admin_email)
  const { single_sign_on } = await it.done(it.owner, 'PUT /api/v1/organization/single-sign-on', {
    sign_in_name: `o-${randomUUID()}`,
    provider_name: 'Test provider',
    issuer,
    client_id: clientId,
    client_secret: 'secret',
    email_domains: ['example.com'],
    group_roles: [
      { group: 'bosses', role: 'admin' },
      { group: 'staff', role: 'member' },
    ],
    default_role: null,
    required: false,
    emergency_member_id: owner.member_id,
    ...more,
  })
  return single_sign_on
}

/** A sign-in that a browser has begun: its cookie, and the parameters sent to the provider. */
export interface Begun {
  cookie: string
  /** The parameters of the provider's page. */
  sent: URLSearchParams
}

export async function begin(it: Accounts, sign_in_name: string): Promise<Begun> {
  const answer = await it.ask({ origin: it.url }, 'POST /dashboard/single-sign-on', {
    sign_in_name,
  })
  if (answer.status !== 200)
    throw new Error(`start: ${answer.status} ${JSON.stringify(answer.body)}`)
  return {
    cookie: answer.headers.getSetCookie()[0]!.split(';')[0]!,
    sent: new URL(answer.body.url).searchParams,
  }
}

/** Claims that an honest provider signs in answer to a begun sign-in. */
export const honest = ({ sent }: Begun, more: object = {}) => ({
  sub: 'u-1',
  aud: clientId,
  nonce: sent.get('nonce'),
  iat: Math.floor(Date.now() / 1000),
  exp: Math.floor(Date.now() / 1000) + 300,
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada',
  groups: ['staff'],
  ...more,
})

/** Comes back from the provider; the session that this starts, or the reason against it. */
export async function comeBack(
  begun: Pick<Begun, 'cookie' | 'sent'>,
  code: string,
  {
    state = begun.sent.get('state')!,
    cookie = begun.cookie,
    at = begun.sent.get('redirect_uri')!,
  } = {},
): Promise<{ session: Caller; reason: string | null; location: string }> {
  const answer = await fetch(`${at}?${new URLSearchParams({ code, state })}`, {
    redirect: 'manual',
    headers: { cookie },
  })
  const location = answer.headers.get('location') ?? `${answer.status} ${await answer.text()}`
  const started = answer.headers.getSetCookie().find((set) => /footfall_session=[^;]/.test(set))
  return {
    location,
    reason: new URLSearchParams(location.split('?')[1]).get('single_sign_on'),
    session: started ? { cookie: started.split(';')[0]!, origin: new URL(at).origin } : {},
  }
}

/** Signs somebody in through the provider; their session. */
export async function signInAs(
  it: Accounts,
  issuer: TokenIssuer,
  name: string,
  claims: object,
): Promise<Caller> {
  const begun = await begin(it, name)
  const { session, location } = await comeBack(begun, issuer.codeFor(honest(begun, claims)))
  if (!session.cookie) throw new Error(`not signed in: ${location}`)
  return session
}
