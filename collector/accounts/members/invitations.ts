import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { sha256 } from '../../api/access/authenticate.ts'
import { hashPassword } from '../../api/access/passwords.ts'
import type { Role } from '../../api/access/principal.ts'
import { requireSameOrigin } from '../../api/access/sameOrigin.ts'
import { sessionOf } from '../../api/access/session.ts'
import { Name, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter, notFound } from '../../api/http/errors.ts'
import { visitorText } from '../../platform/outbox/visitorText.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access, Code, Password } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { takeSignInTry } from '../credentials/signInThrottle.ts'
import { rememberBrowser } from '../sessions/knownBrowser.ts'
import { readSignedIn, SignedIn, startSession } from '../sessions/sessions.ts'
import { attemptOf, requireCode, requirePassword } from '../sessions/signIn.ts'
import { auditSignIn } from '../sessions/signInAudit.ts'

const invitationMs = 7 * 86_400_000

/** The token of an invitation. It is shown once; the database stores its hash. */
export function newInvitation(): { token: string; sha256: Buffer; expiresAt: Date } {
  const token = randomBytes(32).toString('base64url')
  return { token, sha256: sha256(token), expiresAt: new Date(Date.now() + invitationMs) }
}

/** Limit of an organization, so that it cannot send unlimited mail to strangers. */
export const invitationMails = { burst: 100, everySeconds: 60 }

export async function invitationMail(
  client: Queryable,
  organizationId: string,
  email: string,
  link: string,
): Promise<{ subject: string; text: string }> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM organizations WHERE organization_id = $1',
    [organizationId],
  )
  // Anybody may be invited, by anybody who has an organization.
  const name = visitorText(rows[0]!.name) ?? 'An organization'
  return {
    subject: `You are invited to ${name} on Footfall`,
    text:
      `${name} invites ${email} to its dashboard of Footfall.\n\n` +
      `Accept it here, within seven days:\n\n${link}\n\nIf you do not know them, do nothing.\n`,
  }
}

const tags = ['Dashboard']
const params = strictObject({ token: Type.String({ maxLength: 200 }) })

/** /dashboard/invitation/{token}: shows an invitation and accepts it. */
export const invitationRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl } = deps
    const config = { access: access.anyone }

    app.get(
      '/dashboard/invitation/:token',
      {
        config,
        schema: {
          tags,
          operationId: 'getInvitation',
          summary: 'Get an invitation',
          description:
            'Requires the token of the invitation. Does not reveal whether the invited person has an account.',
          params,
          response: {
            200: Type.Object({
              email: Type.String(),
              organization: Type.Object({ name: Type.String() }),
            }),
          },
        },
      },
      async ({ params: { token } }) => {
        const { email, organization } = await readInvitation(postgres, token)
        return { email, organization: { name: organization } }
      },
    )

    app.post(
      '/dashboard/invitation/:token',
      {
        config,
        schema: {
          tags,
          operationId: 'acceptInvitation',
          summary: 'Accept an invitation and sign in',
          description:
            'Requires the token of the invitation. A user who is signed in with the invited address sends no password. Otherwise, `password` is that of the existing account, or the one for a new account, together with `name`. A wrong password returns 401 and counts as an attempt to sign in.',
          params,
          body: strictObject({
            name: Type.Optional(Name),
            password: Type.Optional(Password),
            code: Type.Optional(Code),
          }),
          response: { 200: SignedIn },
        },
      },
      async (request, reply) => {
        const { token } = request.params
        // Hash only for invited callers, because hashing is expensive.
        const invited = await readInvitation(postgres, token)
        const { email } = invited
        if (!(await takesPassword(postgres, invited))) throw needsProvider()
        const proof =
          (await signedInAs(request, email)) ?? (await withPassword(request, invited, request.body))
        const signedIn = await inTransaction(postgres, async (client) => {
          const invitation = await readInvitation(client, token, 'FOR UPDATE OF members')
          const { member_id: memberId, organization_id: organizationId, role, by_mail } = invitation
          // In the joined organization, the entry below says it.
          if (proof.userId && !proof.hasSession) await auditSignIn(client, proof.userId, request)
          const userId = proof.userId ?? (await newUser(client, email, proof.passwordHash))
          await client.query(
            `UPDATE members SET user_id = $2, invitation_sha256 = NULL, invitation_expires_at = NULL,
               invitation_by_mail = false,
               name = coalesce($3, name, (SELECT name FROM members m WHERE m.user_id = $2 AND name IS NOT NULL LIMIT 1)),
               last_used_at = now(), version = version + 1, updated_at = now()
             WHERE member_id = $1`,
            [memberId, userId, request.body.name],
          )
          if (by_mail) await proveAddress(client, userId)
          const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
          await audit(client, actor, 'member.join', { kind: 'member', id: memberId })
          if (!proof.hasSession) await startSession(client, request, reply, { userId }, publicUrl)
          return readSignedIn(client, { memberId })
        })
        if (!proof.hasSession) await rememberBrowser(postgres, reply, email, publicUrl)
        return signedIn
      },
    )

    /** The user of the request's session, if that is who the invitation is for. */
    async function signedInAs(request: FastifyRequest, email: string): Promise<Proof | null> {
      const session = sessionOf(request, publicUrl)
      if (!session) return null
      const { rows } = await postgres.query<{ user_id: string }>(
        `SELECT user_id FROM sessions JOIN users USING (user_id)
         WHERE session_sha256 = $1 AND expires_at > now() AND email = $2`,
        [sha256(session), email],
      )
      if (!rows[0]) return null
      requireSameOrigin(request, publicUrl)
      return { userId: rows[0].user_id, hasSession: true }
    }

    /**
     * The holder of the link can be the sender of the invitation. So an address with an account requires its
     * password, and its code if sign-in requires one. Throws 401 and 429 like sign-in. Throws 409 if the
     * service sends mail and a link that was not mailed would create an account.
     */
    async function withPassword(
      request: FastifyRequest,
      { email, by_mail }: Invitation,
      { password, code }: { password?: string; code?: string },
    ): Promise<Proof> {
      if (password === undefined) throw invalidParameter('password', 'is required')
      const user = await readUser(postgres, email)
      if (!user) {
        if (deps.sendMail && !by_mail) throw notMailed()
        return { passwordHash: await hashPassword(password) }
      }
      const attempt = await attemptOf(postgres, request, email, publicUrl)
      await takeSignInTry(postgres, attempt)
      await requirePassword(postgres, request, user, password)
      await requireCode(deps, request, user.user_id, code, attempt.knownBrowser)
      return { userId: user.user_id }
    }
  }

/** Who accepts an invitation: an existing user, or a new one with a password. */
type Proof =
  | { userId: string; hasSession?: true; passwordHash?: undefined }
  | { userId?: undefined; hasSession?: undefined; passwordHash: string }

async function readUser(
  postgres: Postgres,
  email: string,
): Promise<{ user_id: string; password_hash: string } | undefined> {
  const { rows } = await postgres.query<{ user_id: string; password_hash: string }>(
    'SELECT user_id, password_hash FROM users WHERE email = $1',
    [email],
  )
  return rows[0]
}

async function newUser(client: Queryable, email: string, passwordHash: string): Promise<string> {
  const { rows } = await client.query<{ user_id: string }>(
    'INSERT INTO users (email, password_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING user_id',
    [email, passwordHash],
  )
  // A user with the same address accepted another invitation at the same time.
  if (!rows[0]) throw conflict('invalid_state', 'Try again.')
  return rows[0].user_id
}

/** A mailed link shows that its user receives mail at their address. */
const proveAddress = (client: Queryable, userId: string) =>
  client.query(
    'UPDATE users SET email_proven_at = now() WHERE user_id = $1 AND email_proven_at IS NULL',
    [userId],
  )

/** Whether a password opens the organization to an invited member. */
async function takesPassword(
  client: Queryable,
  { organization_id, member_id }: Invitation,
): Promise<boolean> {
  const { rows } = await client.query<{ takes: boolean }>(
    'SELECT takes_password($1, $2) AS takes',
    [organization_id, member_id],
  )
  return rows[0]!.takes
}

const needsProvider = () =>
  conflict(
    'invalid_state',
    'This organization requires single sign-on. Choose “Use single sign-on” on the sign-in page.',
  )

const notMailed = () =>
  conflict(
    'invalid_state',
    'This link was not mailed, so it does not confirm the e-mail address. Ask the organization to renew the invitation: the service then mails the new link.',
  )

interface Invitation {
  member_id: string
  email: string
  role: Role
  organization_id: string
  organization: string
  by_mail: boolean
}

async function readInvitation(
  client: Queryable,
  token: string,
  lock: '' | 'FOR UPDATE OF members' = '',
): Promise<Invitation> {
  const { rows } = await client.query<Invitation>(
    `SELECT member_id, email, role, organization_id, organizations.name AS organization,
       invitation_by_mail AS by_mail
     FROM members JOIN organizations USING (organization_id)
     WHERE invitation_sha256 = $1 AND invitation_expires_at > now() ${lock}`,
    [sha256(token)],
  )
  if (!rows[0]) throw notFound.invitation()
  return rows[0]
}
