import { wakeQueue } from '../jobs/queue.ts'
import type { Queryable } from '../postgres/transaction.ts'
import { uuidV7 } from '../uuidV7.ts'

export const eventTypes = [
  'audience.built',
  'list.imported',
  'export.run_ended',
  'budget.reached',
  'pixel.silent',
  'alert.raised',
  'alert.resolved',
  'visit.matched',
] as const
export type OutboxEventType = (typeof eventTypes)[number]

export interface OutboxEvent {
  /** The id of the message; a repeat with the same id sends nothing. Default: a new one. */
  messageId?: string
  organizationId: string
  /** Absent: the event concerns the organization, and webhooks of single projects do not receive it. */
  projectId?: string
  type: OutboxEventType
  /** Ids, names and counts. Only `visit.matched` has personal data, which erasures delete. */
  data: Readonly<Record<string, unknown>>
}

export const outboxQueue = 'outbox.dispatch'

/** Sends an event to webhooks once the transaction of `client` commits. */
export async function emit(
  client: Queryable,
  { messageId = uuidV7(), organizationId, projectId, type, data }: OutboxEvent,
): Promise<void> {
  await client.query(
    `INSERT INTO outbox_messages (message_id, organization_id, project_id, type, data)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (message_id) DO NOTHING`,
    [messageId, organizationId, projectId ?? null, type, JSON.stringify(data)],
  )
  await wakeQueue(client, outboxQueue)
}
