import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administeredProject } from '../../api/access/policy.ts'
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
  sendsMail: boolean
}

const tags = ['Dashboard']
const path = '/dashboard/email-summary'
const Frequency = Nullable(Choice(frequencies), {
  description:
    'weekly: each Monday, the previous week. monthly: on the first day, the previous month. Both in UTC. Null: never.',
})
const Summary = Type.Object(
  {
    frequency: Frequency,
    by_mail: Type.Boolean({ description: 'True if this service sends mail.' }),
  },
  { title: 'EmailSummary' },
)

/** /dashboard/email-summary and /unsubscribe: subscriptions to the figures of a project by e-mail. */
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
          summary: 'Get your subscription to a project’s summary',
          description: 'Requires a member. Each member has their own setting.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Summary },
        },
      },
      async ({ principal, query }) => {
        const projectId = await administeredProject(postgres, principal, query.project_id, 'read')
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
            'The mail has the figures of the period and the previous one, top pages and sources, without bots and without data ' +
            'about people. The first mail covers the current period. Returns 503 `not_configured` if the service sends no mail.',
          body: strictObject({ project_id: Id, frequency: Frequency }),
          response: { 200: Summary },
        },
      },
      async ({ principal, body: { project_id, frequency } }) => {
        const projectId = await administeredProject(postgres, principal, project_id, 'read')
        if (frequency !== null && !sendsMail)
          throw new ApiError(
            503,
            'not_configured',
            'This service sends no mail. The operator has to configure it.',
          )
        await setFrequency(postgres, projectId, callerId(principal), frequency)
        return { frequency, by_mail: sendsMail }
      },
    )

    await app.register(unsubscribeRoute(postgres))
  }

/** POST /unsubscribe/{token}: for recipients of a mail, signed in or not. */
const unsubscribeRoute =
  (postgres: Postgres): FastifyPluginAsyncTypebox =>
  async (app) => {
    // The body from mail programs contains no further information (RFC 8058).
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
            'Called by the link in each mail, and by mail programs themselves (RFC 8058).',
          params: strictObject({ token: Type.String({ maxLength: 200 }) }),
          response: { 200: Type.Object({ unsubscribed: Type.Literal(true) }) },
        },
      },
      async ({ params }) => {
        const subscriptionId = (await openUnsubscribeTokens(postgres)).read(params.token)
        if (subscriptionId === null)
          throw new ApiError(
            404,
            'subscription not found',
            'The link is incomplete. Copy the complete link from the mail.',
          )
        await endSubscription(postgres, subscriptionId)
        return { unsubscribed: true as const }
      },
    )
  }
