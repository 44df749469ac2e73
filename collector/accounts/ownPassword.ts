import type { FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { sha256 } from '../access/authenticate.ts'
import { callerId } from '../access/principal.ts'
import { sessionOf } from '../access/session.ts'
import { invalidParameter, unauthorized } from '../errors.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { exactly } from '../schemaParts.ts'
import type { TypeBox } from '../typeProvider.ts'
import { audit } from './audit.ts'
import { access, Password } from './declarations.ts'
import type { AccountsDeps } from './deps.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import { forgetSignInTries, takeSignInTry } from './signInThrottle.ts'

/** PUT /dashboard/password: whoever is signed in changes their own. */
export const ownPasswordRoutes =
  ({ postgres, publicUrl }: AccountsDeps): FastifyPluginAsync =>
  async (plain) => {
    plain.withTypeProvider<TypeBox>().put(
      '/dashboard/password',
      {
        config: { access: access.session },
        schema: {
          tags: ['Dashboard'],
          summary: 'Change one’s own password',
          description: 'Ends every other session. Tries are limited like those to sign in.',
          body: exactly({
            current_password: Type.String({ minLength: 1, maxLength: 200 }),
            new_password: Password,
          }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const memberId = callerId(principal)
        const { rows } = await postgres.query<{ email: string; password_hash: string }>(
          'SELECT email, password_hash FROM members WHERE member_id = $1',
          [memberId],
        )
        if (!rows[0]) throw unauthorized.session()
        const { email, password_hash } = rows[0]
        await takeSignInTry(postgres, request.ip, email)
        if (!(await checkPassword(password_hash, body.current_password))) {
          throw invalidParameter('current_password', 'is not your password')
        }
        await forgetSignInTries(postgres, email)
        const newHash = await hashPassword(body.new_password)
        await inTransaction(postgres, async (client) => {
          await client.query(
            `UPDATE members SET password_hash = $2, password_changed_at = now(), version = version + 1, updated_at = now()
             WHERE member_id = $1`,
            [memberId, newHash],
          )
          await client.query('DELETE FROM sessions WHERE member_id = $1 AND session_sha256 <> $2', [
            ...[memberId, sha256(sessionOf(request, publicUrl)!)],
          ])
          await audit(client, principal, 'member.password', { kind: 'member', id: memberId })
        })
        return reply.code(204).send(null)
      },
    )
  }
