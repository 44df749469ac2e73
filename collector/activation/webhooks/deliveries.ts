import { isUuid } from '../../../schemas/uuid.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import { notFound } from '../../api/http/errors.ts'
import { readPage } from '../../api/http/pagination.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import { outboxQueue } from '../../platform/outbox/outbox.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { Delivery } from './webhookSchemas.ts'

/** The type of a test message, which is tried once. */
export const testType = 'webhook.test'

/** Precedes the id of a message where receivers see it: in deliveries and in the header `webhook-id`. */
export const messageIdPrefix = 'msg_'

const selected = `SELECT delivery_id AS id, '${messageIdPrefix}' || message_id AS message_id, type, status, attempts, last_attempt_at, next_attempt_at,
    response_status, response_body, error, webhook_deliveries.created_at
  FROM webhook_deliveries JOIN outbox_messages USING (message_id) WHERE webhook_id = $1`

/** Returns a page of a webhook's deliveries, newest first. Throws 400 for an invalid cursor. */
export async function listDeliveries(
  deps: { postgres: Queryable; cursors: Cursors },
  webhookId: string,
  {
    status,
    ...page
  }: { status?: string | undefined; limit?: number | undefined; cursor?: string | undefined },
): Promise<{ deliveries: Delivery[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Delivery>(deps, page, {
    list: 'webhook_deliveries',
    owner: webhookId,
    sql: `${selected} AND ($2::text IS NULL OR status = $2)`,
    values: [webhookId, status ?? null],
    key: { created_at: 'timestamptz', id: 'uuid' },
    order: 'desc',
  })
  return { deliveries: rows, ...next }
}

/** Reads a delivery. Throws 404 "delivery not found", also for one of another webhook. */
async function readDelivery(
  client: Queryable,
  webhookId: string,
  deliveryId: string,
): Promise<Delivery> {
  if (!isUuid(deliveryId)) throw notFound.delivery()
  const [delivery] = await readRecords<Delivery>(client, `${selected} AND delivery_id = $2`, [
    webhookId,
    deliveryId,
  ])
  if (!delivery) throw notFound.delivery()
  return delivery
}

export async function sendTest(
  client: Queryable,
  webhook: { id: string; project_id: string | null },
  organizationId: string,
): Promise<Delivery> {
  const [messageId, deliveryId] = [uuidV7(), uuidV7()]
  await client.query(
    `INSERT INTO outbox_messages (message_id, organization_id, project_id, type, data, dispatched_at)
     VALUES ($1, $2, $3, $4, $5, now())`,
    [messageId, organizationId, webhook.project_id, testType, { webhook_id: webhook.id }],
  )
  await client.query(
    'INSERT INTO webhook_deliveries (delivery_id, webhook_id, message_id) VALUES ($1, $2, $3)',
    [deliveryId, webhook.id, messageId],
  )
  await wakeQueue(client, outboxQueue)
  return readDelivery(client, webhook.id, deliveryId)
}

const renewed = `UPDATE webhook_deliveries SET status = 'pending', attempts_of_round = 0, next_attempt_at = now(),
  leased_until = CASE WHEN leased_until > now() THEN leased_until END WHERE webhook_id = $1`

/** Sends a delivery again, whatever its outcome. Throws 404 "delivery not found". */
export async function replayDelivery(
  client: Queryable,
  webhookId: string,
  deliveryId: string,
): Promise<Delivery> {
  await readDelivery(client, webhookId, deliveryId)
  await client.query(`${renewed} AND delivery_id = $2`, [webhookId, deliveryId])
  await wakeQueue(client, outboxQueue)
  return readDelivery(client, webhookId, deliveryId)
}

/** Resends all failed deliveries of messages since that time, and returns their number. */
export async function replayFailed(
  client: Queryable,
  webhookId: string,
  since: string,
): Promise<number> {
  const { rowCount } = await client.query(
    `${renewed} AND status = 'failed' AND created_at >= $2::timestamptz`,
    [webhookId, since],
  )
  await wakeQueue(client, outboxQueue)
  return rowCount!
}
