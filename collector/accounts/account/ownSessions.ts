import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { sha256 } from '../../api/access/authenticate.ts'
import { sessionOf } from '../../api/access/session.ts'
import { Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { readDevice } from '../../ingest/normalize/device.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { endAccess } from '../credentials/endAccess.ts'
import { rememberBrowser } from '../sessions/knownBrowser.ts'
import { ownUser } from './ownUser.ts'

const OwnSession = Type.Object(
  {
    session_id: Id,
    is_current: Type.Boolean({ description: 'The session of this request.' }),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
    browser: Nullable(Type.String(), { description: 'For example Firefox.' }),
    os: Nullable(Type.String(), { description: 'For example Windows.' }),
    address: Nullable(Type.String(), { description: 'The network address of the sign-in.' }),
  },
  { title: 'OwnSession' },
)

const tags = ['Dashboard']

/** /dashboard/sessions: the sessions of a user in all their organizations. */
export const ownSessionRoutes =
  ({ postgres, publicUrl }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.session }

    app.get(
      '/dashboard/sessions',
      {
        config,
        schema: {
          tags,
          operationId: 'listSessions',
          summary: 'List your sessions',
          description: 'Requires a session. Returns the sessions of the user, last used first.',
          response: { 200: Type.Object({ sessions: Type.Array(OwnSession) }) },
        },
      },
      async (request) => {
        const { userId } = await ownUser(postgres, request)
        const rows = await readRecords<SessionRow>(
          postgres,
          `SELECT session_id, session_sha256 = $2 AS is_current, created_at, last_used_at, expires_at, user_agent, address
           FROM sessions WHERE user_id = $1 AND expires_at > now()
           ORDER BY is_current DESC, last_used_at DESC, session_id LIMIT 200`,
          [userId, sha256(sessionOf(request, publicUrl)!)],
        )
        return {
          sessions: rows.map(({ user_agent, ...row }) => ({
            ...row,
            ...deviceOf(user_agent),
          })),
        }
      },
    )

    app.delete(
      '/dashboard/sessions',
      {
        config,
        schema: {
          tags,
          operationId: 'endOtherSessions',
          summary: 'End all your other sessions',
          description:
            'Requires a session. Also ends legacy tokens, password resets and a pending change of the e-mail address.',
          response: { 200: Type.Object({ ended: Type.Integer() }) },
        },
      },
      async (request, reply) => {
        const { userId, email } = await ownUser(postgres, request)
        const ended = await inTransaction(postgres, (client) =>
          endAccess(client, userId, sessionOf(request, publicUrl)),
        )
        await rememberBrowser(postgres, reply, email, publicUrl)
        return { ended }
      },
    )

    app.delete(
      '/dashboard/sessions/:session_id',
      {
        config,
        schema: {
          tags,
          operationId: 'endSession',
          summary: 'End one of your sessions',
          description:
            'Requires a session. The ended session is refused everywhere within a second.',
          params: strictObject({ session_id: Id }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { userId } = await ownUser(postgres, request)
        const { rowCount } = await postgres.query(
          'DELETE FROM sessions WHERE user_id = $1 AND session_id = $2',
          [userId, request.params.session_id],
        )
        if (rowCount === 0) throw notFound.session()
        return reply.code(204).send(null)
      },
    )
  }

interface SessionRow extends Omit<Static<typeof OwnSession>, 'browser' | 'os'> {
  user_agent: string | null
}

function deviceOf(userAgent: string | null): { browser: string | null; os: string | null } {
  const { browser, os } = readDevice(userAgent ?? '')
  return { browser, os }
}
