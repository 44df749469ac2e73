import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { tokenSeconds } from '../../api/access/tokens.ts'
import { oldAuthentication } from '../../api/http/deprecation.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { Credentials } from './sessions.ts'
import { userWithPassword } from './signIn.ts'

/** POST /auth/v1/login: the legacy way to a token (spec: Authentication 6). */
export const loginRoutes =
  ({ publicUrl, tokens, ...deps }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/auth/v1/login',
      {
        config: { access: access.anyone },
        schema: {
          tags: ['Authentication'],
          operationId: 'logIn',
          summary: 'Create a sign-in token',
          description:
            'Deprecated: use an API key. Requires e-mail address and password, and a `code` with two-factor authentication. Send the token as `Authorization: Bearer …`.',
          deprecated: true,
          body: Credentials,
          response: {
            200: Type.Object({
              token: Type.String(),
              token_type: Type.Literal('Bearer'),
              expires_in: Type.Integer({ description: 'Seconds.' }),
            }),
          },
        },
      },
      async (request, reply) => {
        reply.headers(oldAuthentication)
        const { memberId } = await userWithPassword(deps, request, request.body, publicUrl)
        return {
          token: await tokens.sign(memberId),
          token_type: 'Bearer' as const,
          expires_in: tokenSeconds,
        }
      },
    )
  }
