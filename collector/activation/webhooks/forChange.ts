import type { Principal } from '../../api/access/principal.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { requireLive, requireWritable } from './access.ts'
import type { WebhooksDeps } from './deps.ts'
import type { Webhook } from './schemas.ts'
import { readWebhook } from './webhooks.ts'

/** Does `change` in a transaction that holds the webhook. Throws 403 and 404 for who may not change it. */
export async function forChange<T>(
  { postgres, recordScopeOf }: WebhooksDeps,
  principal: Principal,
  webhookId: string,
  change: (client: Queryable, webhook: Webhook) => Promise<T>,
): Promise<T> {
  requireLive(principal)
  const scope = await recordScopeOf(principal, undefined)
  // Before the transaction: who holds a connection must not wait for another.
  const { id, project_id } = await readWebhook(postgres, scope, webhookId)
  await requireWritable(postgres, principal, project_id)
  return inTransaction(postgres, async (client) =>
    change(client, await readWebhook(client, scope, id, true)),
  )
}
