import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { access, writeAccess } from '../../api/access/recordAccess.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { conflict } from '../../api/http/errors.ts'
import { listDeliveries, replayDelivery, replayFailed, sendTest } from './deliveries.ts'
import { lockWebhook } from './lockWebhook.ts'
import {
  ById,
  Deliveries,
  DeliveriesQuery,
  DeliveryById,
  OneDelivery,
  ProjectQuery,
  Replay,
  Replayed,
  tags,
  type Webhook,
} from './webhookSchemas.ts'
import { readWebhook } from './webhooks.ts'
import type { WebhooksDeps } from './webhooksDeps.ts'

const path = '/api/v1/webhooks/:webhook_id'

export const deliveryRoutes =
  (deps: WebhooksDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps

    app.get(
      `${path}/deliveries`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listWebhookDeliveries',
          summary: 'List the deliveries of a webhook',
          params: ById,
          querystring: DeliveriesQuery,
          description: 'Returns the deliveries of the last 30 days, newest first.',
          response: { 200: Deliveries },
        },
      },
      async ({ principal, params, query: { project_id, ...query } }) => {
        const { id } = await readWebhook(
          postgres,
          await recordScopeOf(principal, project_id),
          params.webhook_id,
        )
        return listDeliveries(deps, id, query)
      },
    )

    app.post(
      `${path}/test`,
      {
        config: { access: writeAccess, sampleIds: { delivery: sampleIdentity.deliveryId } },
        schema: {
          tags,
          operationId: 'testWebhook',
          summary: 'Send a test message',
          params: ById,
          querystring: ProjectQuery,
          description:
            'Sends one message of the type `webhook.test`, without retries. The deliveries show the result.',
          response: { 202: OneDelivery },
        },
      },
      async (request, reply) => {
        const delivery = await lockWebhook(deps, request, (client, webhook) => {
          requireEnabled(webhook)
          return sendTest(client, webhook, request.principal.organizationId)
        })
        return reply.code(202).send({ delivery })
      },
    )

    app.post(
      `${path}/deliveries/:delivery_id/replay`,
      {
        config: { access: writeAccess, sampleIds: { delivery: sampleIdentity.deliveryId } },
        schema: {
          tags,
          operationId: 'replayWebhookDelivery',
          summary: 'Replay a delivery',
          params: DeliveryById,
          querystring: ProjectQuery,
          description:
            'Sends the message again with the same `webhook-id`, whether or not it was delivered.',
          response: { 202: OneDelivery },
        },
      },
      async (request, reply) => {
        const delivery = await lockWebhook(deps, request, (client, webhook) => {
          requireEnabled(webhook)
          return replayDelivery(client, webhook.id, request.params.delivery_id)
        })
        return reply.code(202).send({ delivery })
      },
    )

    app.post(
      `${path}/replay`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'replayFailedWebhookDeliveries',
          summary: 'Replay all failed deliveries',
          params: ById,
          querystring: ProjectQuery,
          body: Replay,
          description: 'Sends all messages again that failed permanently since a given time.',
          response: { 202: Replayed },
        },
      },
      async (request, reply) => {
        const replayed = await lockWebhook(deps, request, (client, webhook) => {
          requireEnabled(webhook)
          return replayFailed(client, webhook.id, request.body.since)
        })
        return reply.code(202).send({ replayed })
      },
    )
  }

/** Throws 409 for a disabled webhook, to which nothing is sent. */
function requireEnabled(webhook: Webhook): void {
  if (!webhook.enabled)
    throw conflict('invalid_state', 'The webhook is turned off. Set `enabled` to true first.')
}
