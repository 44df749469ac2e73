import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { sha256 } from '../../api/access/authenticate.ts'
import type { Principal } from '../../api/access/principal.ts'
import { sessionCookie, sessionOf } from '../../api/access/session.ts'
import { Id, Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import { notFound, unauthorized } from '../../api/http/errors.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { access, Code, CurrentPassword, OrganizationRole } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { rememberBrowser } from './knownBrowser.ts'
import { userWithPassword } from './signIn.ts'

export const SignedIn = Type.Object(
  {
    member: Type.Object({
      member_id: Id,
      email: Type.String(),
      name: Nullable(Type.String()),
      role: OrganizationRole,
    }),
    organization: Type.Object({ organization_id: Id, name: Type.String() }),
    organizations: Type.Array(Type.Object({ organization_id: Id, name: Type.String() }), {
      description: 'All organizations of the user, by name.',
    }),
    by_provider: Type.Optional(
      Type.Literal(true, {
        description:
          'Whether the organization’s identity provider signed the member in. Such a session is limited to this organization.',
      }),
    ),
    is_operator: Type.Optional(
      Type.Literal(true, {
        description:
          'Whether the user is an operator of the service and can call the operator routes.',
      }),
    ),
  },
  { title: 'Session' },
)
type SignedIn = Static<typeof SignedIn>

export const Credentials = strictObject(
  {
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: CurrentPassword,
    code: Type.Optional(Code),
  },
  { title: 'Credentials' },
)

const tags = ['Dashboard']

/** /dashboard/session: signs in, returns the signed-in member, and signs out. */
export const sessionRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl } = deps

    app.post(
      '/dashboard/session',
      {
        config: { access: access.anyone },
        schema: {
          tags,
          operationId: 'signIn',
          summary: 'Sign in',
          description:
            'Open to all callers. Sets the session cookie, which is valid for thirty days. The service limits attempts by network address and e-mail address together; known browsers have their own limit. The session starts in the organization used last. With two-factor authentication, the correct password alone returns 401 `second_factor_required`. A wrong or used `code` returns 401 `invalid_code`. Attempts of codes are limited per account.',
          body: Credentials,
          response: { 200: SignedIn },
        },
      },
      async (request, reply) => {
        const { userId, memberId, email } = await userWithPassword(
          deps,
          request,
          request.body,
          publicUrl,
        )
        await startSession(postgres, request, reply, { userId }, publicUrl)
        await rememberBrowser(postgres, reply, email, publicUrl)
        return readSignedIn(postgres, { memberId })
      },
    )

    app.get(
      '/dashboard/session',
      {
        config: { access: access.session },
        schema: {
          tags,
          operationId: 'getSession',
          summary: 'Get the current session',
          response: { 200: SignedIn },
          description:
            'Requires a session. The header `X-Organization-Id` selects the organization, here and on all session routes. Default: the organization used last.',
        },
      },
      async ({ principal }) => readSignedIn(postgres, signedInMember(principal)),
    )

    app.put(
      '/dashboard/session',
      {
        config: { access: access.session },
        schema: {
          tags,
          operationId: 'switchOrganization',
          description: 'An organization of the user.',
          summary: 'Switch to another organization',
          body: strictObject({ organization_id: Id }),
          response: { 200: SignedIn },
        },
      },
      async ({ principal, body }) => {
        const { memberId, byProvider = false } = signedInMember(principal)
        const { rows } = await postgres.query<{ member_id: string }>(
          `UPDATE members SET last_used_at = now()
           WHERE organization_id = $2 AND (member_id = $1
             OR NOT $3 AND user_id = (SELECT user_id FROM members WHERE member_id = $1)
               AND takes_password(organization_id, member_id))
           RETURNING member_id`,
          [memberId, body.organization_id, byProvider],
        )
        if (!rows[0]) throw notFound.organization()
        return readSignedIn(postgres, { memberId: rows[0].member_id, byProvider })
      },
    )

    app.delete(
      '/dashboard/session',
      {
        config: { access: access.session },
        schema: {
          tags,
          operationId: 'signOut',
          description: 'Requires a session. Ends it.',
          summary: 'Sign out',
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await postgres.query('DELETE FROM sessions WHERE session_sha256 = $1', [
          sha256(sessionOf(request, publicUrl)!),
        ])
        setSessionCookie(reply, '', 0, publicUrl)
        return reply.code(204).send(null)
      },
    )
  }

const sessionDays = 30
/** Groups and access at the provider may change, so its sessions are short. */
const providerSessionDays = 0.5
const daySeconds = 86_400
const userAgentCharsMax = 300

/** The holder of a session: a user with a password, or a member who signed in at the organization's provider. */
type SessionHolder =
  | { userId: string; memberId?: undefined }
  | { memberId: string; userId?: undefined }

/** Signs a user in: stores the hash of a session, and sets a cookie that no script can read. */
export async function startSession(
  client: Queryable,
  request: FastifyRequest,
  reply: FastifyReply,
  { userId, memberId }: SessionHolder,
  publicUrl: string,
): Promise<void> {
  const days = userId ? sessionDays : providerSessionDays
  const session = randomBytes(32).toString('base64url')
  await client.query(
    `INSERT INTO sessions (session_sha256, user_id, member_id, expires_at, user_agent, address)
     VALUES ($1, $2, $3, now() + $4 * interval '1 day', $5, $6)`,
    [
      sha256(session),
      userId,
      memberId,
      days,
      request.headers['user-agent']?.slice(0, userAgentCharsMax),
      request.ip,
    ],
  )
  setSessionCookie(reply, session, days * daySeconds, publicUrl)
}

function setSessionCookie(
  reply: FastifyReply,
  value: string,
  maxAge: number,
  publicUrl: string,
): void {
  reply.header(
    'set-cookie',
    stringifySetCookie({
      name: sessionCookie(publicUrl),
      value,
      maxAge,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: publicUrl.startsWith('https:'),
    }),
  )
}

/** The member of a session, and whether the organization's provider authenticated them. */
interface SignedInMember {
  memberId: string
  byProvider?: boolean
}

const signedInMember = ({ caller }: Principal): SignedInMember => {
  if (caller.kind !== 'member') throw unauthorized.session()
  return caller
}

/** Reads a session for the dashboard. A provider's session is of one organization and never an operator's. */
export async function readSignedIn(
  client: Queryable,
  { memberId, byProvider = false }: SignedInMember,
): Promise<SignedIn> {
  const { rows } = await client.query<
    SignedIn['member'] & {
      organization_id: string
      organization: string
      organizations: SignedIn['organizations']
      is_operator: boolean
    }
  >(
    `SELECT member_id, email, members.name, role, organization_id, organizations.name AS organization, (
       SELECT jsonb_agg(jsonb_build_object('organization_id', o.organization_id, 'name', o.name) ORDER BY o.name, o.organization_id)
       FROM members m JOIN organizations o USING (organization_id)
       WHERE m.member_id = members.member_id
         OR NOT $2 AND m.user_id = members.user_id AND takes_password(m.organization_id, m.member_id)) AS organizations,
       (SELECT is_operator FROM users WHERE NOT $2 AND users.user_id = members.user_id) AS is_operator
     FROM members JOIN organizations USING (organization_id) WHERE member_id = $1`,
    [memberId, byProvider],
  )
  // The session cache can outlive the member for a moment.
  if (!rows[0]) throw unauthorized.session()
  const { organization_id, organization, organizations, is_operator, ...member } = rows[0]
  return {
    member,
    organization: { organization_id, name: organization },
    organizations,
    ...(is_operator && { is_operator }),
    ...(byProvider && { by_provider: true as const }),
  }
}
