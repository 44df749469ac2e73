import type { Principal } from '../../api/access/principal.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { requireWritable } from './webhookAccess.ts'
import type { Webhook } from './webhookSchemas.ts'
import { readWebhook } from './webhooks.ts'
import type { WebhooksDeps } from './webhooksDeps.ts'

/** A request that changes a webhook. */
interface WebhookRequest {
  readonly principal: Principal
  readonly params: { readonly webhook_id: string }
  readonly query: { readonly project_id?: string }
}

/** Runs `change` in a transaction that locks the webhook. Throws 403 and 404 for callers who may not change it. */
export async function lockWebhook<T>(
  { postgres, recordScopeOf }: WebhooksDeps,
  { principal, params, query }: WebhookRequest,
  change: (client: Queryable, webhook: Webhook) => Promise<T>,
): Promise<T> {
  const scope = await recordScopeOf(principal, query.project_id)
  // Before the transaction: who holds a connection must not wait for another.
  const { id, project_id } = await readWebhook(postgres, scope, params.webhook_id)
  await requireWritable(postgres, principal, project_id)
  return inTransaction(postgres, async (client) =>
    change(client, await readWebhook(client, scope, id, true)),
  )
}
