import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { projectFor } from '../../api/access/policy.ts'
import { callerId } from '../../api/access/principal.ts'
import { Choice, Id, Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError } from '../../api/http/errors.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { frequencies } from './periods.ts'
import { endSubscription, readFrequency, setFrequency } from './subscriptions.ts'
import { openUnsubscribeTokens } from './unsubscribeTokens.ts'

interface SummariesDeps {
  postgres: Postgres
  /** Whether this service sends mail. */
  sendsMail: boolean
}

const tags = ['Dashboard']
const path = '/dashboard/email-summary'
const Frequency = Nullable(Choice(frequencies), {
  description:
    'Each Monday the week before, or on the first of a month that before, UTC. Null: never.',
})
const Summary = Type.Object(
  {
    frequency: Frequency,
    by_mail: Type.Boolean({ description: 'Whether this service sends mail.' }),
  },
  { title: 'EmailSummary' },
)

/** /dashboard/email-summary and /unsubscribe: who wants the figures of a project by e-mail. */
export const summariesRoutes =
  ({ postgres, sendsMail }: SummariesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: { to: 'session' } } as const
    app.addHook('preValidation', rejectUnstorableText)

    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'getEmailSummary',
          summary: 'Get one’s subscription to a project’s summary',
          description: 'Each member has a setting of their own.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Summary },
        },
      },
      async ({ principal, query }) => {
        const { projectId } = await projectFor(
          postgres,
          principal,
          'administration',
          query.project_id,
          'read',
        )
        return {
          frequency: await readFrequency(postgres, projectId, callerId(principal)),
          by_mail: sendsMail,
        }
      },
    )

    app.put(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'setEmailSummary',
          summary: 'Subscribe to a project’s summary by e-mail, or unsubscribe',
          description:
            'Figures of the period and the one before, top pages and sources: aggregates alone, without bots. It begins with the ' +
            'period that is under way. 503 `not_configured` where the service sends no mail.',
          body: strictObject({ project_id: Id, frequency: Frequency }),
          response: { 200: Summary },
        },
      },
      async ({ principal, body: { project_id, frequency } }) => {
        const { projectId } = await projectFor(
          postgres,
          principal,
          'administration',
          project_id,
          'read',
        )
        if (frequency !== null && !sendsMail)
          throw new ApiError(503, 'not_configured', 'This service sends no mail.')
        await setFrequency(postgres, projectId, callerId(principal), frequency)
        return { frequency, by_mail: sendsMail }
      },
    )

    await app.register(unsubscribeRoute(postgres))
  }

/** POST /unsubscribe/{token}: for whoever has a mail, signed in or not. */
const unsubscribeRoute =
  (postgres: Postgres): FastifyPluginAsyncTypebox =>
  async (app) => {
    // What mail programs send along says nothing that the address does not (RFC 8058).
    app.addContentTypeParser(
      ['application/x-www-form-urlencoded', 'multipart/form-data'],
      { parseAs: 'buffer', bodyLimit: 4_096 },
      (_request, _body, done) => done(null, null),
    )
    app.post(
      '/unsubscribe/:token',
      {
        config: { access: { to: 'anyone' } },
        schema: {
          tags,
          operationId: 'unsubscribe',
          summary: 'Unsubscribe from e-mail summaries',
          description:
            'By the link in each of them; mail programs ask it by themselves (RFC 8058).',
          params: strictObject({ token: Type.String({ maxLength: 200 }) }),
          response: { 200: Type.Object({ unsubscribed: Type.Literal(true) }) },
        },
      },
      async ({ params }) => {
        const subscriptionId = (await openUnsubscribeTokens(postgres)).read(params.token)
        if (subscriptionId === null)
          throw new ApiError(404, 'subscription not found', 'The link is not all there.')
        await endSubscription(postgres, subscriptionId)
        return { unsubscribed: true as const }
      },
    )
  }
