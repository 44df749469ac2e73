import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { hashPassword } from '../../api/access/passwords.ts'
import { sessionOf } from '../../api/access/session.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access, Code, CurrentPassword, Password, triesRefusals } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { endAccess } from '../credentials/endAccess.ts'
import { passwordChangedNotice } from '../credentials/notices.ts'
import { requireSecondFactor } from '../credentials/secondFactor.ts'
import { rememberBrowser } from '../sessions/knownBrowser.ts'
import { ownUserWithPassword } from './ownUser.ts'

/** PUT /dashboard/password: changes the password of the signed-in user. */
export const ownPasswordRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl } = deps
    app.put(
      '/dashboard/password',
      {
        config: { access: access.session, refusals: triesRefusals },
        schema: {
          tags: ['Dashboard'],
          operationId: 'changePassword',
          summary: 'Change your password',
          description:
            'Requires a session and the password, and a `code` with two-factor authentication. Ends every other session, every password reset and a pending change of the e-mail address, and mails a notice. Attempts share the rate limit of sign-in.',
          body: strictObject({
            current_password: CurrentPassword,
            new_password: Password,
            code: Type.Optional(Code),
          }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const { userId, memberId, email, knownBrowser } = await ownUserWithPassword(
          postgres,
          request,
          body.current_password,
          publicUrl,
        )
        await requireSecondFactor(deps, userId, body.code, knownBrowser)
        const newHash = await hashPassword(body.new_password)
        await inTransaction(postgres, async (client) => {
          await client.query(
            'UPDATE users SET password_hash = $2, password_changed_at = now() WHERE user_id = $1',
            [userId, newHash],
          )
          await endAccess(client, userId, sessionOf(request, publicUrl))
          await mailTo(client, email, passwordChangedNotice)
          await audit(client, principal, 'member.password', { kind: 'member', id: memberId })
        })
        await rememberBrowser(postgres, reply, email, publicUrl)
        return reply.code(204).send(null)
      },
    )
  }
