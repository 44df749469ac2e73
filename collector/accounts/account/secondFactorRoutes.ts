import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter } from '../../api/http/errors.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access, Code, CurrentPassword, triesRefusals } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import {
  beginSecondFactor,
  confirmSecondFactor,
  newRecoveryCodes,
  readSecondFactor,
  removeSecondFactor,
  requireSecondFactor,
  takeCodeTry,
} from '../credentials/secondFactor.ts'
import { base32, otpauthUri } from '../credentials/totp.ts'
import { rememberBrowser } from '../sessions/knownBrowser.ts'
import { auditOwn } from './auditOwn.ts'
import { ownUser, ownUserWithPassword } from './ownUser.ts'

const RecoveryCodes = Type.Object({
  recovery_codes: Type.Array(Type.String(), {
    description:
      'Each code works once, wherever a code is required. The service does not show them again.',
  }),
})
const tags = ['Dashboard']
const path = '/dashboard/two-factor'

/** /dashboard/two-factor: codes in addition to the password. */
export const secondFactorRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, secretBox, publicUrl } = deps
    const config = { access: access.session, refusals: { ...triesRefusals, 409: isOffOrOn } }

    app.post(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'beginTwoFactor',
          summary: 'Begin two-factor authentication',
          description:
            'Requires a session and the password. Returns a new secret for an authenticator app (TOTP, RFC 6238). Sign-in requires no code until `confirmTwoFactor` receives a valid one.',
          body: strictObject({ current_password: CurrentPassword }),
          response: {
            200: Type.Object({
              secret: Type.String({ description: 'In Base32, for typing into the app.' }),
              uri: Type.String({ description: '`otpauth://totp/…`, for a QR code.' }),
            }),
          },
        },
      },
      async (request) => {
        const { current_password } = request.body
        const { userId, email } = await ownUserWithPassword(
          postgres,
          request,
          current_password,
          publicUrl,
        )
        const secret = await beginSecondFactor(deps, userId)
        if (!secret)
          throw conflict(
            'invalid_state',
            'Two-factor authentication is already on. Turn it off first.',
          )
        return { secret: base32(secret), uri: otpauthUri(secret, email) }
      },
    )

    app.put(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'confirmTwoFactor',
          summary: 'Turn on two-factor authentication',
          description:
            'Requires a session and a code from the new secret. Sign-in then requires a code.',
          body: strictObject({ code: Code }),
          response: { 200: RecoveryCodes },
        },
      },
      async (request, reply) => {
        const { userId, email } = await ownUser(postgres, request)
        await takeCodeTry(postgres, userId, null)
        const recovery_codes = await inTransaction(postgres, async (client) => {
          if (!(await confirmSecondFactor(client, secretBox, userId, request.body.code))) {
            throw invalidParameter('code', 'must be the code that the app shows now')
          }
          await auditOwn(client, userId, 'member.two_factor', { on: true })
          return newRecoveryCodes(client, userId)
        })
        await rememberBrowser(postgres, reply, email, publicUrl)
        return { recovery_codes }
      },
    )

    app.post(
      `${path}/recovery-codes`,
      {
        config,
        schema: {
          tags,
          operationId: 'renewRecoveryCodes',
          summary: 'Replace your recovery codes',
          description:
            'Requires a session, the password and a code. Returns new recovery codes; the previous ones no longer work.',
          body: strictObject({ current_password: CurrentPassword, code: Code }),
          response: { 200: RecoveryCodes },
        },
      },
      async (request) => {
        const { current_password, code } = request.body
        const { userId, knownBrowser } = await ownUserWithPassword(
          ...([postgres, request, current_password, publicUrl] as const),
        )
        if (!(await readSecondFactor(postgres, userId))) throw isOff()
        await requireSecondFactor(deps, userId, code, knownBrowser)
        const recovery_codes = await inTransaction(postgres, async (client) => {
          await auditOwn(client, userId, 'member.recovery_codes')
          return newRecoveryCodes(client, userId)
        })
        return { recovery_codes }
      },
    )

    app.delete(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'endTwoFactor',
          summary: 'Turn off two-factor authentication',
          description: 'Requires a session, the password, and a code or a recovery code.',
          body: strictObject({ current_password: CurrentPassword, code: Code }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { current_password, code } = request.body
        const { userId, knownBrowser } = await ownUserWithPassword(
          ...([postgres, request, current_password, publicUrl] as const),
        )
        await requireSecondFactor(deps, userId, code, knownBrowser)
        await inTransaction(postgres, async (client) => {
          if (!(await removeSecondFactor(client, userId))) throw isOff()
          await auditOwn(client, userId, 'member.two_factor', { on: false })
        })
        return reply.code(204).send(null)
      },
    )
  }

const isOffOrOn = '`conflict`: two-factor authentication is already on, or already off.'

const isOff = () => conflict('invalid_state', 'Two-factor authentication is off.')
