import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { requireToken } from '../../api/access/tries.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { SendMail } from '../../platform/mail.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access, Code, CurrentPassword, Email, triesRefusals } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { requireSecondFactor } from '../credentials/secondFactor.ts'
import { newEmailChangeLink, readEmailChange, useEmailChange } from './emailChange.ts'
import { type OwnUser, ownUser, ownUserWithPassword } from './ownUser.ts'

const tags = ['Dashboard']
const params = strictObject({ token: Type.String({ maxLength: 200 }) })
const path = '/dashboard/email-change'

/** /dashboard/email-change: changes the e-mail address of a user, after the user has confirmed the new one. */
export const emailChangeRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl, sendMail } = deps

    app.post(
      path,
      {
        config: { access: access.session, refusals: triesRefusals },
        schema: {
          tags,
          operationId: 'requestEmailChange',
          summary: 'Request a change of your e-mail address',
          description:
            'Requires a session, the password and, with two-factor authentication, a code. Mails a link to the new address that is valid for an hour. The address changes when the user opens the link. The answer does not reveal whether an account has that address. Returns 503 `not_configured` if the service sends no mail; the operator then runs `npx footfall-server change-email`.',
          body: strictObject({
            email: Email,
            current_password: CurrentPassword,
            code: Type.Optional(Code),
          }),
          response: { 202: Type.Object({ email: Type.String() }) },
        },
      },
      async (request, reply) => {
        const { current_password, code } = request.body
        const email = normalizedEmail(request.body.email)
        const user = await ownUserWithPassword(postgres, request, current_password, publicUrl)
        await requireSecondFactor(deps, user.userId, code, user.knownBrowser)
        if (!sendMail) throw sendsNoMail()
        await requireToken(postgres, [
          { name: `email_change:${user.userId}`, burst: 5, everySeconds: 720 },
        ])
        // Not awaited, because its duration would reveal whether a user has the address.
        mailLink(sendMail, user, email).catch((error: Error) =>
          request.log.warn(
            { error: error.message },
            'cannot send the mail that confirms a new e-mail address',
          ),
        )
        return reply.code(202).send({ email })
      },
    )

    app.get(
      `${path}/:token`,
      {
        config: { access: access.anyone },
        schema: {
          tags,
          operationId: 'getEmailChange',
          summary: 'Get a change of e-mail address',
          params,
          description: 'The new address.',
          response: { 200: Type.Object({ email: Type.String() }) },
        },
      },
      async ({ params: { token } }) => readEmailChange(postgres, token),
    )

    app.post(
      `${path}/:token`,
      {
        config: { access: access.session },
        schema: {
          tags,
          operationId: 'confirmEmailChange',
          summary: 'Confirm a change of e-mail address',
          params,
          description:
            'Requires a session of the user who requested the change; the request itself took the password and the ' +
            'code. The link works once. The service mails a notice to the old and the new address.',
          response: { 200: Type.Object({ email: Type.String() }) },
        },
      },
      async (request) =>
        inTransaction(postgres, async (client) => {
          const { userId } = await ownUser(client, request)
          return { email: await useEmailChange(client, userId, request.params.token) }
        }),
    )

    async function mailLink(send: SendMail, user: OwnUser, email: string): Promise<void> {
      const link = await newEmailChangeLink(postgres, user.userId, email, publicUrl)
      if (link) await send({ to: email, ...linkMail(user.email, email, link) })
    }
  }

const sendsNoMail = () =>
  new ApiError(
    503,
    'not_configured',
    'This service sends no mail. Ask its operator to run `npx footfall-server change-email`.',
  )

const linkMail = (before: string, after: string, link: string) => ({
  subject: 'Your new e-mail address for Footfall',
  text:
    `A user who signs in to Footfall as ${before} wants to sign in as ${after} in future.\n\n` +
    `If this was you, confirm it here within an hour:\n\n${link}\n\nIf it was not, ignore this mail.\n`,
})
