import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { sha256 } from '../../api/access/authenticate.ts'
import { networkOf } from '../../api/access/network.ts'
import { hashPassword } from '../../api/access/passwords.ts'
import { requireToken } from '../../api/access/tries.ts'
import { Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import type { SendMail } from '../../platform/mail.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access, Email, Password } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { rememberBrowser } from './knownBrowser.ts'
import {
  linkMinutes,
  memberOfLink,
  newPasswordResetLink,
  readPasswordReset,
  usePasswordReset,
} from './passwordReset.ts'
import { readSignedIn, SignedIn, startSession } from './sessions.ts'
import { auditSignIn } from './signInAudit.ts'

const tags = ['Dashboard']
const params = strictObject({ token: Type.String({ maxLength: 200 }) })

/** /dashboard/password-reset: ask for a link, and choose a new password by it. */
export const passwordResetRoutes =
  ({ postgres, publicUrl, sendMail }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.anyone }

    app.post(
      '/dashboard/password-reset',
      {
        config,
        schema: {
          tags,
          operationId: 'requestPasswordReset',
          summary: 'Request a password reset',
          description:
            'Open to all callers. The answer does not reveal whether an account has this address. Mails a link that is valid for an hour. `by_mail` is false if the service sends no mail; the operator then creates a link with `npx footfall-server reset-password`.',
          body: strictObject({ email: Email }),
          response: { 202: Type.Object({ by_mail: Type.Boolean() }) },
        },
      },
      async (request, reply) => {
        const email = normalizedEmail(request.body.email)
        await requireToken(postgres, [
          { name: `password_reset_address:${networkOf(request.ip)}`, burst: 20, everySeconds: 60 },
          {
            name: `password_reset_email:${sha256(email).toString('base64url')}`,
            burst: 3,
            everySeconds: 1200,
          },
        ])
        if (sendMail) {
          // Not awaited, because its duration would reveal whether a user has the address.
          mailLink(postgres, sendMail, email, publicUrl).catch((error: Error) =>
            request.log.warn({ error: error.message }, 'cannot send the mail for a password reset'),
          )
        }
        return reply.code(202).send({ by_mail: sendMail !== null })
      },
    )

    app.get(
      '/dashboard/password-reset/:token',
      {
        config,
        schema: {
          tags,
          operationId: 'getPasswordReset',
          description: 'The e-mail address of the account.',
          summary: 'Get a password reset',
          params,
          response: { 200: Type.Object({ email: Type.String() }) },
        },
      },
      async ({ params: { token } }) => readPasswordReset(postgres, token),
    )

    app.post(
      '/dashboard/password-reset/:token',
      {
        config,
        schema: {
          tags,
          operationId: 'resetPassword',
          summary: 'Reset a password',
          params,
          description:
            'Requires the token of the link, which works once. Ends every session, token and pending change of the e-mail address, and mails a notice. Removes a second factor that was set up before the address was confirmed. Then signs the user in, unless that requires a second factor or an identity provider.',
          body: strictObject({ password: Password }),
          response: {
            200: Type.Object({
              session: Nullable(SignedIn, {
                description:
                  'Null if the user must sign in with a second factor or an identity provider.',
              }),
            }),
          },
        },
      },
      async (request, reply) => {
        const { token } = request.params
        // Check the link first, so that strangers cannot cause expensive password hashing.
        await readPasswordReset(postgres, token)
        const passwordHash = await hashPassword(request.body.password)
        const { session, email } = await inTransaction(postgres, async (client) => {
          const { userId, email } = await usePasswordReset(client, token, passwordHash)
          const memberId = await memberOfLink(client, userId)
          if (memberId === null) return { session: null, email }
          await auditSignIn(client, userId, request)
          await startSession(client, request, reply, { userId }, publicUrl)
          return { session: await readSignedIn(client, { memberId }), email }
        })
        if (session) await rememberBrowser(postgres, reply, email, publicUrl)
        return { session }
      },
    )
  }

async function mailLink(
  postgres: Postgres,
  sendMail: SendMail,
  email: string,
  publicUrl: string,
): Promise<void> {
  const link = await newPasswordResetLink(postgres, email, linkMinutes.mailed, publicUrl)
  if (!link) return
  await sendMail({
    to: email,
    subject: 'Reset your Footfall password',
    text:
      `Somebody, hopefully you, has asked for a new password for ${email} at ${publicUrl}.\n\n` +
      `Choose one here, within an hour:\n\n${link}\n\nIf it was not you, do nothing: your password stays as it is.\n`,
  })
}
