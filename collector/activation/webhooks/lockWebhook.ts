import { changeRecord } from '../../api/access/changeRecord.ts'
import type { Principal } from '../../api/access/principal.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Webhook } from './webhookSchemas.ts'
import { readWebhook } from './webhooks.ts'
import type { WebhooksDeps } from './webhooksDeps.ts'

interface WebhookRequest {
  readonly principal: Principal
  readonly params: { readonly webhook_id: string }
  readonly query: { readonly project_id?: string }
}

/** Runs `change` in a transaction that locks the webhook. Throws 403 and 404 for callers who may not change it. */
export const lockWebhook = <T>(
  deps: WebhooksDeps,
  request: WebhookRequest,
  change: (client: Queryable, webhook: Webhook) => Promise<T>,
): Promise<T> => changeRecord(deps, request, readWebhook, request.params.webhook_id, change)
