/** Everybody who asks the routes, and the answers that they must get. */
import { randomUUID } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import { newApiCredentials } from '../../collector/accounts/keys/apiKeys.ts'
import { sha256 } from '../../collector/api/access/authenticate.ts'
import { sessionCookie } from '../../collector/api/access/session.ts'
import { type Asked, isAnswered, matching, type Route, type Sent } from './record.ts'
import { mentions } from './tenantState.ts'
import { type Tenants, withKey } from './tenants.ts'

type Headers = Record<string, string>

/** A caller of every route; `expects` returns what is wrong with an answer, or null. */
export interface Caller {
  readonly who: string
  readonly headers: () => Promise<Headers> | Headers
  /** Whether the routes are asked about the other organization. */
  readonly isAboutTheirs?: boolean
  readonly asks?: (route: Route) => boolean
  readonly expects: (route: Route, answer: Asked, sent: Sent) => object | null
}

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

/** The routes that a share link opens. */
export const openedByShareLink = [
  'GET /api/v1/analytics/overview',
  'GET /api/v1/analytics/timeseries',
  'GET /api/v1/analytics/breakdown',
  'GET /api/v1/analytics/live',
  'GET /api/v1/analytics/shares/:share_id',
]

const isMembers = ({ access }: Route): boolean => access.to === 'session' || !!access.members

/** Callers that are nobody: 401, and no route tells them whether anything exists. */
export async function strangersOf(tenants: Tenants): Promise<Caller[]> {
  const { ours, postgres, tokens } = tenants
  await tokens.sign(randomUUID())
  const { rows } = await postgres.query<{ value: Buffer }>('SELECT value FROM service_secrets')
  const signingKey = rows[0]!.value
  const addShare = async (expires: string) => {
    const secret = `${ours.shareSecret}${randomUUID()}`
    await postgres.query(
      `INSERT INTO share_links (project_id, name, secret_sha256, expires_at)
       VALUES ($1, 'another', $2, now() + $3::interval)`,
      [ours.projects[0], sha256(secret), expires],
    )
    return secret
  }
  const [expired, revoked] = [await addShare('-1 second'), await addShare('1 hour')]
  await postgres.query('DELETE FROM share_links WHERE secret_sha256 = $1', [sha256(revoked)])
  const altered = ours.shareSecret.slice(0, -1) + (ours.shareSecret.endsWith('A') ? 'B' : 'A')
  const cookieOf = (value: string): Headers => ({
    cookie: `${sessionCookie('http://127.0.0.1')}=${value}`,
    'sec-fetch-site': 'same-origin',
  })
  const strangers: Record<string, Headers> = {
    'without a key': {},
    'with a revoked key': withKey(ours.revoked),
    'with an unknown key': withKey(newApiCredentials('live')),
    'with an unknown session': cookieOf(randomUUID()),
    'with a forged token': bearer(await signed(ours.owner, Buffer.alloc(32, 1), '1h')),
    'with an expired token': bearer(await signed(ours.owner, signingKey, -60)),
    'with an unsigned token': bearer(
      new UnsecuredJWT({}).setIssuer('footfall').setSubject(ours.owner).setIssuedAt().encode(),
    ),
    'with an expired share link': bearer(expired),
    'with a revoked share link': bearer(revoked),
    'with an altered share link': bearer(altered),
    'with the prefix of share links': bearer('ffs_'),
    'with a share link in upper case': bearer(ours.shareSecret.toUpperCase()),
    'with the id of a share link': bearer(ours.shares[0]),
    'with a share link as a key': { 'x-api-key': ours.shareSecret },
    'with a share link as a session': cookieOf(ours.shareSecret),
  }
  return Object.entries(strangers).map(([who, headers]) => ({
    who,
    headers: () => headers,
    expects: ({ access }, answer) =>
      matching(answer, {
        status: 401,
        ...(!who.includes('share link') && {
          error: access.to === 'session' ? 'unauthenticated' : 'Invalid API key',
        }),
      }),
  }))
}

/** Callers that are known, and are not let in here or see little. Nothing of ours changes. */
export function outsidersOf(tenants: Tenants): Caller[] {
  const { ours, theirs, withSession } = tenants
  const fromOther = (what: string, headers: Caller['headers']): Caller => ({
    who: `with another organization’s ${what}`,
    headers,
    // A change of the other organization itself is its own affair.
    asks: ({ name }) => name !== 'DELETE /api/v1/organization',
    expects(_route, answer, sent) {
      if (mentions(ours, answer.text).length > 0) return { mentions: mentions(ours, answer.text) }
      const isAboutOurs = mentions(ours, sent.text).length > 0
      return isAboutOurs && answer.status !== 401 ? matching(answer, { status: 404 }) : null
    },
  })
  const crossSite = (origin: string): Caller => ({
    who: `with a session, from ${origin}`,
    headers: async () => ({ cookie: (await withSession(ours.owner)).cookie!, origin }),
    asks: (route) => !route.name.startsWith('GET') && isMembers(route),
    expects: (_route, answer) => matching(answer, { status: 403, error: 'cross_origin' }),
  })
  return [
    fromOther('key', () => withKey(theirs.key)),
    fromOther('owner’s session', () => withSession(theirs.owner)),
    {
      who: 'with a key of another project',
      headers: () => withKey(ours.projectKey),
      expects: (route, answer, sent) => expectsOfProjectKey(tenants, route, answer, sent),
    },
    {
      who: 'as a member of no project',
      headers: () => withSession(ours.member),
      // Signing out is theirs, so are their name and sessions, and turning to the organization that they are in.
      asks: ({ name }) => !/^(DELETE|PUT) \/dashboard\/(sessions?|account)$/.test(name),
      expects({ name, access }, answer) {
        if (answer.text.includes(ours.projects[0]) || answer.text.includes(ours.pixels[0]))
          return { told: 'the project' }
        if (access.to === 'key' && !access.members) return matching(answer, { status: 401 })
        if (name.startsWith('GET')) return null
        return [400, 401, 403, 404].includes(answer.status) ? null : { status: answer.status }
      },
    },
    {
      who: 'with a share link',
      headers: () => bearer(ours.shareSecret),
      expects: ({ name, access }, answer) =>
        matching(
          answer,
          openedByShareLink.includes(name)
            ? { status: 200 }
            : access.to === 'session'
              ? { status: 401, error: 'unauthenticated' }
              : { status: 403, error: 'forbidden' },
        ),
    },
    {
      who: 'with a share link, about another organization',
      headers: () => bearer(ours.shareSecret),
      isAboutTheirs: true,
      asks: ({ name }) => openedByShareLink.includes(name),
      expects: (_route, answer) => matching(answer, { status: 404 }),
    },
    crossSite('https://elsewhere.example'),
    crossSite('null'),
    {
      who: 'with a session, by a link from anywhere to a charged route',
      headers: async () => ({
        cookie: (await withSession(ours.owner)).cookie!,
        'sec-fetch-site': 'cross-site',
      }),
      asks: ({ access, isCharged }) => access.to === 'key' && !!access.members && isCharged,
      expects: (_route, answer) => matching(answer, { status: 403, error: 'cross_origin' }),
    },
  ]
}

/** Callers that are let in: each asks every route that is for them, but those that destroy something. */
export function insidersOf(tenants: Tenants): Caller[] {
  const { ours, withSession } = tenants
  const expectsAnswer: Caller['expects'] = (_route, answer) =>
    isAnswered(answer.status) ? null : { status: answer.status, text: answer.text }
  const asksHere = ({ name }: Route) =>
    // These also ask for the password, or ask an identity provider.
    !/^DELETE|password|email-change|two-factor|PUT .*sign-on/.test(name)
  return [
    {
      who: 'with a key of the organization',
      headers: () => withKey(ours.key),
      asks: (route) => asksHere(route) && route.access.to === 'key',
      expects: (_route, answer) =>
        [200, 201, 202].includes(answer.status)
          ? null
          : { status: answer.status, text: answer.text },
    },
    {
      who: 'with a key of the project',
      headers: () => withKey(ours.firstKey),
      asks: (route) => asksHere(route) && route.access.to === 'key',
      expects: (route, answer, sent) =>
        route.access.to === 'key' && route.access.projectKeys === 'refused'
          ? matching(answer, { status: 403 })
          : expectsAnswer(route, answer, sent),
    },
    {
      who: 'with the owner’s session',
      headers: () => withSession(ours.owner),
      asks: (route) => asksHere(route) && isMembers(route),
      expects: expectsAnswer,
    },
  ]
}

/** Compares an answer to a key of the second project about the first one with the contract. */
function expectsOfProjectKey(
  { ours }: Tenants,
  { name, access }: Route,
  answer: Asked,
  { text: about }: Sent,
): object | null {
  // Records that are asked for by ids of their own.
  const records = [
    ours.campaigns[0],
    ours.webhooks[0],
    ours.shares[0],
    ours.segments[0],
    ours.funnels[0],
    ours.annotations[0],
    ours.alerts[0],
    ours.archives[0],
    ours.visitAlerts[0],
    ours.lists[0],
    ours.integrations[0],
    ours.exports[0],
    ours.sentRun,
  ]
  const namesRecord = records.some((id) => about.includes(id)) && name !== 'POST /api/v1/exports'
  const namesOther =
    namesRecord || [ours.projects[0], ours.pixels[0]].some((id) => about.includes(id))
  if (!namesOther && access.to !== 'session' && answer.text.includes(ours.projects[0]))
    return { told: 'the project' }
  const expected = () => {
    if (access.to === 'session') return { status: 401, error: 'unauthenticated' }
    if (access.projectKeys === 'refused') return { status: 403, error: 'forbidden' }
    // Routes of pixels answer 401; where a pixel only narrows what is read, it is not found.
    if (about.includes(ours.pixels[0]) && !/\/pixel/.test(name)) return { status: 404 }
    if (namesOther && /pixel|project\//.test(name)) return { status: 401, error: 'Invalid API key' }
    if (namesRecord) return { status: 404 }
    if (namesOther && /audiences(?!\/linkage)/.test(name))
      return { status: 403, error: 'access denied' }
    if (
      namesOther &&
      /billing|requests|lists|campaigns|webhooks|integrations|exports|statistics|linkage/.test(name)
    )
      return { status: 403, error: 'project_id does not match API key scope' }
    return namesOther ? { status: 404, error: 'project not found' } : { status: 200 }
  }
  const isRefused = access.to === 'key' && access.projectKeys === 'refused'
  if (isRefused && !answer.text.includes('not available to a project-scoped API key'))
    return { status: answer.status, text: answer.text }
  return matching(answer, expected())
}

const signed = (subject: string, key: Buffer, expires: string | number) =>
  new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('footfall')
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(
      typeof expires === 'string' ? expires : Math.floor(Date.now() / 1000) + expires,
    )
    .sign(key)
