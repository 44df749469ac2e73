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
      { description: 'Null: sign-in asks for the password alone.' },
    ),
    by_mail: Type.Boolean({
      description: 'Whether this service sends mail, and so can change the address.',
    }),
  },
  { title: 'Account' },
)

const tags = ['Dashboard']

/** /dashboard/account: what a user is called and how they sign in. */
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
          summary: 'Get one’s own account',
          description: 'The same in all organizations of a user.',
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
          summary: 'Change one’s own name',
          description: 'In all organizations of the user.',
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
