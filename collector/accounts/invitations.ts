import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { sha256 } from '../access/authenticate.ts'
import type { Role } from '../access/principal.ts'
import { notFound } from '../errors.ts'
import { inTransaction, type Queryable } from '../postgres/transaction.ts'
import { exactly } from '../schemaParts.ts'
import type { TypeBox } from '../typeProvider.ts'
import { audit } from './audit.ts'
import { access, Name, Password } from './declarations.ts'
import type { AccountsDeps } from './deps.ts'
import { hashPassword } from './passwords.ts'
import { readSignedIn, SignedIn, startSession } from './sessions.ts'

const invitationMs = 7 * 86_400_000

/** An invitation's token, which is told once and kept as a hash. */
export function newInvitation(): { token: string; sha256: Buffer; expiresAt: Date } {
  const token = randomBytes(32).toString('base64url')
  return { token, sha256: sha256(token), expiresAt: new Date(Date.now() + invitationMs) }
}

const tags = ['Dashboard']
const params = exactly({ token: Type.String({ maxLength: 200 }) })

/** /dashboard/invitation/{token}: whom it is for; accept it. */
export const invitationRoutes =
  ({ postgres, publicUrl }: AccountsDeps): FastifyPluginAsync =>
  async (plain) => {
    const app = plain.withTypeProvider<TypeBox>()
    const config = { access: access.anyone }

    app.get(
      '/dashboard/invitation/:token',
      {
        config,
        schema: {
          tags,
          summary: 'Whom an invitation is for',
          params,
          response: {
            200: Type.Object({ email: Type.String(), organization: Type.Object({ name: Type.String() }) }),
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
          summary: 'Accept an invitation, and be signed in',
          params,
          body: exactly({ name: Name, password: Password }),
          response: { 200: SignedIn },
        },
      },
      async ({ params: { token }, body: { name, password } }, reply) => {
        // Only who has an invitation may cost us a hash.
        await readInvitation(postgres, token)
        const passwordHash = await hashPassword(password)
        return inTransaction(postgres, async (client) => {
          const {
            member_id: memberId,
            organization_id,
            role,
          } = await readInvitation(client, token, 'FOR UPDATE OF members')
          await client.query(
            `UPDATE members SET name = $2, password_hash = $3, invitation_sha256 = NULL,
               invitation_expires_at = NULL, version = version + 1, updated_at = now()
             WHERE member_id = $1`,
            [memberId, name, passwordHash],
          )
          await audit(
            client,
            { organizationId: organization_id, caller: { kind: 'member', memberId, role } },
            'member.join',
            { kind: 'member', id: memberId },
          )
          await startSession(client, reply, memberId, publicUrl)
          return readSignedIn(client, memberId)
        })
      },
    )
  }

interface Invitation {
  member_id: string
  email: string
  role: Role
  organization_id: string
  organization: string
}

async function readInvitation(
  client: Queryable,
  token: string,
  lock: '' | 'FOR UPDATE OF members' = '',
): Promise<Invitation> {
  const { rows } = await client.query<Invitation>(
    `SELECT member_id, email, role, organization_id, organizations.name AS organization
     FROM members JOIN organizations USING (organization_id)
     WHERE invitation_sha256 = $1 AND invitation_expires_at > now() ${lock}`,
    [sha256(token)],
  )
  if (!rows[0]) throw notFound.invitation()
  return rows[0]
}
