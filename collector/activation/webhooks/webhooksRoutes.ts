import type { FastifyPluginAsync } from 'fastify'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import { deliveryRoutes } from './webhookDeliveryRoutes.ts'
import { webhookRoutes } from './webhookRoutes.ts'
import type { WebhooksDeps } from './webhooksDeps.ts'

/** /api/v1/webhooks: addresses that receive events, and the deliveries of messages. */
export const webhooksRoutes =
  (deps: WebhooksDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    await app.register(webhookRoutes(deps))
    await app.register(deliveryRoutes(deps))
  }
