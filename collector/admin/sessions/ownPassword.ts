import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../access/audit.ts'
import { sha256 } from '../../access/authenticate.ts'
import { callerId } from '../../access/principal.ts'
import { sessionOf } from '../../access/session.ts'
import { invalidParameter, unauthorized } from '../../http/errors.ts'
import { exactly } from '../../http/schemas.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { AccountsDeps } from '../deps.ts'
import { access, Password } from '../schemas.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import { attemptOf } from './signIn.ts'
import { forgetSignInTries, takeSignInTry } from './signInThrottle.ts'

/** PUT /dashboard/password: whoever is signed in changes their own. */
export const ownPasswordRoutes =
  ({ postgres, publicUrl }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.put(
      '/dashboard/password',
      {
        config: { access: access.session },
        schema: {
          tags: ['Dashboard'],
          operationId: 'changePassword',
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
        const { rows } = await postgres.query<{ user_id: string; email: string; password_hash: string }>(
          'SELECT user_id, users.email, password_hash FROM members JOIN users USING (user_id) WHERE member_id = $1',
          [memberId],
        )
        if (!rows[0]) throw unauthorized.session()
        const { user_id: userId, email, password_hash } = rows[0]
        const attempt = await attemptOf(postgres, request, email, publicUrl)
        await takeSignInTry(postgres, attempt)
        if (!(await checkPassword(password_hash, body.current_password))) {
          throw invalidParameter('current_password', 'is not your password')
        }
        await forgetSignInTries(postgres, attempt)
        const newHash = await hashPassword(body.new_password)
        await inTransaction(postgres, async (client) => {
          await client.query(
            'UPDATE users SET password_hash = $2, password_changed_at = now() WHERE user_id = $1',
            [userId, newHash],
          )
          await client.query('DELETE FROM sessions WHERE user_id = $1 AND session_sha256 <> $2', [
            ...[userId, sha256(sessionOf(request, publicUrl)!)],
          ])
          await audit(client, principal, 'member.password', { kind: 'member', id: memberId })
        })
        return reply.code(204).send(null)
      },
    )
  }
