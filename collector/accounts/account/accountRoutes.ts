import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Name, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { readSecondFactor } from '../credentials/secondFactor.ts'
import { auditOwn } from './auditOwn.ts'
import { type OwnUser, ownUser } from './ownUser.ts'

const Account = Type.Object(
  {
    email: Type.String(),
    name: Nullable(Type.String()),
    two_factor: Nullable(
      Type.Object({
        since: Timestamp,
        recovery_codes_left: Type.Integer(),
      }),
      { description: 'Null: the user signs in with the password only.' },
    ),
    by_mail: Type.Boolean({
      description:
        'Whether this service sends mail. Users can change their address only if it does.',
    }),
  },
  { title: 'Account' },
)

const tags = ['Dashboard']

/** /dashboard/account: the name and the sign-in address of a user. */
export const accountRoutes =
  ({ postgres, sendMail }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.session }
    const show = async (client: Queryable, { userId, email, name }: OwnUser) => {
      const factor = await readSecondFactor(client, userId)
      return {
        email,
        name,
        by_mail: sendMail !== null,
        two_factor: factor && {
          since: factor.since.toISOString(),
          recovery_codes_left: factor.recoveryCodesLeft,
        },
      }
    }

    app.get(
      '/dashboard/account',
      {
        config,
        schema: {
          tags,
          operationId: 'getAccount',
          summary: 'Get your account',
          description:
            'Requires a session. Returns the account, which is the same in all organizations of the user.',
          response: { 200: Account },
        },
      },
      async (request) => show(postgres, await ownUser(postgres, request)),
    )

    app.put(
      '/dashboard/account',
      {
        config,
        schema: {
          tags,
          operationId: 'updateAccount',
          summary: 'Update your name',
          description: 'Requires a session. Changes the name in all organizations of the user.',
          body: strictObject({ name: Name }),
          response: { 200: Account },
        },
      },
      async (request) =>
        inTransaction(postgres, async (client) => {
          const user = await ownUser(client, request)
          const { name } = request.body
          await client.query(
            `UPDATE members SET name = $2, version = version + 1, updated_at = now()
             WHERE user_id = $1 AND name IS DISTINCT FROM $2`,
            [user.userId, name],
          )
          if (name !== user.name) {
            await auditOwn(client, user.userId, 'member.update', {
              name: { from: user.name, to: name },
            })
          }
          return show(client, { ...user, name })
        }),
    )
  }
