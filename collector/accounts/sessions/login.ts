import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { tokenSeconds } from '../../api/access/tokens.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { Credentials } from './sessions.ts'
import { userWithPassword } from './signIn.ts'

/** RFC 9745: the time since when the route is deprecated, in seconds since 1970. */
const deprecated = `@${Date.UTC(2026, 0, 1) / 1000}`

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
        reply.header('deprecation', deprecated)
        const { memberId } = await userWithPassword(deps, request, request.body, publicUrl)
        return {
          token: await tokens.sign(memberId),
          token_type: 'Bearer' as const,
          expires_in: tokenSeconds,
        }
      },
    )
  }
