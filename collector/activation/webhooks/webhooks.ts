import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import type { RecordScope } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import { conflict, notFound } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { readPage } from '../../api/http/pagination.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { newWebhookSecret } from '../../platform/outbound/signature.ts'
import { outboxQueue } from '../../platform/outbox/outbox.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { NewWebhook, Webhook, WebhookChange } from './webhookSchemas.ts'

/** Limit per project, and for webhooks of the organization. */
const webhooksMax = 20
/** How long messages are also signed with the previous secret. */
const rotationHours = 24

const columns = `webhook_id AS id, project_id, description, url, event_types, is_enabled AS enabled, disabled_reason,
  disabled_at, failing_since, CASE WHEN former_secret_until > now() THEN former_secret_until END AS former_secret_until,
  version, created_at, updated_at`

/** SQL of a scope: the parameters $1 and $2. Webhooks of the organization belong to no project. */
const inScope = 'organization_id = $1 AND ($2::uuid[] IS NULL OR project_id = ANY($2))'

/** The purpose under which a webhook's secret is encrypted. */
export const secretPurpose = (webhookId: string): string => `webhook:${webhookId}`

/** Reads a webhook. Throws 404 "webhook not found", also for one outside the scope. */
export async function readWebhook(
  client: Queryable,
  { organizationId, projectIds }: RecordScope,
  webhookId: string,
  lock = false,
): Promise<Webhook> {
  if (!isUuid(webhookId)) throw notFound.webhook()
  const [webhook] = await readRecords<Webhook>(
    client,
    `SELECT ${columns} FROM webhooks WHERE ${inScope} AND webhook_id = $3 ${lock ? 'FOR UPDATE' : ''}`,
    [organizationId, projectIds, webhookId],
  )
  if (!webhook) throw notFound.webhook()
  return webhook
}

/** Returns a page of webhooks, oldest first. Throws 400 for an invalid cursor. */
export async function listWebhooks(
  deps: { postgres: Queryable; cursors: Cursors },
  { organizationId, projectIds }: RecordScope,
  page: { limit?: number | undefined; cursor?: string | undefined },
): Promise<{ webhooks: Webhook[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Webhook>(deps, page, {
    list: 'webhooks',
    owner: organizationId,
    sql: `SELECT ${columns} FROM webhooks WHERE ${inScope}`,
    values: [organizationId, projectIds],
    key: { id: 'uuid' },
  })
  return { webhooks: rows, ...next }
}

/** Creates a webhook with its own secret. Throws 409 beyond the limit. */
export async function createWebhook(
  client: Queryable,
  secretBox: SecretBox,
  organizationId: string,
  projectId: string | null,
  {
    url,
    event_types,
    description = null,
    enabled = true,
  }: Omit<Static<typeof NewWebhook>, 'project_id'>,
): Promise<{ webhook: Webhook; secret: string }> {
  await lockOrganization(client, organizationId)
  const { rowCount } = await client.query(
    'SELECT FROM webhooks WHERE organization_id = $1 AND project_id IS NOT DISTINCT FROM $2',
    [organizationId, projectId],
  )
  if (rowCount! >= webhooksMax)
    throw conflict(
      'count_limit_reached',
      `The limit of ${webhooksMax} webhooks is reached. Delete one first.`,
    )
  const [webhookId, secret] = [uuidV7(), newWebhookSecret()]
  const [webhook] = await readRecords<Webhook>(
    client,
    `INSERT INTO webhooks (webhook_id, organization_id, project_id, url, event_types, description, is_enabled, sealed_secret)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
    [
      webhookId,
      organizationId,
      projectId,
      url,
      event_types,
      description,
      enabled,
      secretBox.seal(secret, secretPurpose(webhookId)),
    ],
  )
  return { webhook: webhook!, secret }
}

/**
 * Changes the given fields. A webhook that is enabled (again) continues with waiting messages, as if it had
 * never failed. Throws 409 with the current webhook if `version` is not the newest.
 */
export async function changeWebhook(
  client: Queryable,
  webhook: Webhook,
  { version, ...change }: Static<typeof WebhookChange>,
): Promise<Webhook> {
  requireVersion('webhook', webhook, version)
  const { id, url, event_types, description, enabled } = { ...webhook, ...change }
  const [changed] = await readRecords<Webhook>(
    client,
    `UPDATE webhooks SET url = $2, event_types = $3, description = $4, is_enabled = $5,
       disabled_reason = CASE WHEN $5 THEN NULL ELSE disabled_reason END,
       disabled_at = CASE WHEN $5 THEN NULL ELSE disabled_at END,
       failing_since = CASE WHEN $5 AND NOT is_enabled THEN NULL ELSE failing_since END,
       version = version + 1, updated_at = now()
     WHERE webhook_id = $1 RETURNING ${columns}`,
    [id, url, event_types, description, enabled],
  )
  await wakeQueue(client, outboxQueue)
  return changed!
}

/** Gives a webhook a new secret; the previous one stays valid for a day, earlier ones become invalid. */
export async function rotateSecret(
  client: Queryable,
  secretBox: SecretBox,
  { id }: Webhook,
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = newWebhookSecret()
  const [webhook] = await readRecords<Webhook>(
    client,
    `UPDATE webhooks SET former_sealed_secret = sealed_secret, sealed_secret = $2,
       former_secret_until = now() + $3 * interval '1 hour', version = version + 1, updated_at = now()
     WHERE webhook_id = $1 RETURNING ${columns}`,
    [id, secretBox.seal(secret, secretPurpose(id)), rotationHours],
  )
  return { webhook: webhook!, secret }
}
