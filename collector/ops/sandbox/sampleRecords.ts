import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

const madeAt = '2026-01-01T00:00:00Z'
/** An opt-out of an anonymous browser. */
export const sampleOptedOut = '5a3b1e00-0000-4000-8000-000000000b06'
/** The sample's message, which the last start created. */
export const sampleMessageId = '5a3b1e00-0000-4000-8000-000000000b07'

const sampleGoals = [{ name: 'Sent a form', filter: 'event_type:eq:form_submission' }]
const savedItems = [
  [sampleIdentity.segmentId, 'segment', { name: 'Phones', filter: 'device_type:eq:mobile' }],
  [
    sampleIdentity.funnelId,
    'funnel',
    {
      name: 'From a page to a form',
      steps: ['event_type:eq:page_view', 'event_type:eq:form_submission'],
      within_ms: 86_400_000,
    },
  ],
  [sampleIdentity.annotationId, 'annotation', { at: madeAt, text: 'New prices' }],
] as const

/**
 * Ensures that the sample has a webhook with a delivery, a share link, saved items, a goal, a disabled alert, an opt-out
 * and an erasure. The webhook subscribes to runs of exports, which the sample never has. The secret of the link is
 * unknown.
 */
export async function ensureSampleRecords(postgres: Postgres): Promise<void> {
  const { organizationId, projectId, webhookId, deliveryId, shareId, optOutId, erasureId } =
    sampleIdentity
  const { alertId } = sampleIdentity
  await postgres.query(
    `INSERT INTO webhooks (webhook_id, organization_id, project_id, url, event_types, sealed_secret, created_at, updated_at)
     VALUES ($1, $2, $3, 'https://example.com/footfall', '{export.run_ended}', '', $4, $4) ON CONFLICT DO NOTHING`,
    [webhookId, organizationId, projectId, madeAt],
  )
  // The service deletes old messages, so this one gets a new time.
  await postgres.query(
    `INSERT INTO outbox_messages (message_id, organization_id, project_id, type, data, dispatched_at)
     VALUES ($1, $2, $3, 'webhook.test', '{}', now()) ON CONFLICT (message_id) DO UPDATE SET created_at = now()`,
    [sampleMessageId, organizationId, projectId],
  )
  await postgres.query(
    `INSERT INTO webhook_deliveries (delivery_id, webhook_id, message_id, status, attempts, next_attempt_at, error, created_at)
     VALUES ($1, $2, $3, 'failed', 1, NULL, 'A sample of a message that was given up.', $4) ON CONFLICT DO NOTHING`,
    [deliveryId, webhookId, sampleMessageId, madeAt],
  )
  await postgres.query(
    `INSERT INTO share_links (share_id, project_id, name, secret_sha256, created_at, expires_at)
     VALUES ($1, $2, 'Sample link', sha256(gen_random_uuid()::text::bytea), $3, '2100-01-01') ON CONFLICT DO NOTHING`,
    [shareId, projectId, madeAt],
  )
  for (const [itemId, kind, content] of savedItems) {
    await postgres.query(
      `INSERT INTO saved_items (item_id, project_id, kind, content, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING`,
      [itemId, projectId, kind, JSON.stringify(content), madeAt],
    )
  }
  await postgres.query(
    `INSERT INTO analytics_goals (project_id, goals, updated_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [projectId, JSON.stringify(sampleGoals), madeAt],
  )
  await postgres.query(
    `INSERT INTO alerts (alert_id, project_id, name, condition, active, created_at, updated_at)
     VALUES ($1, $2, 'Checkout is quiet', $3, false, $4, $4) ON CONFLICT DO NOTHING`,
    [
      alertId,
      projectId,
      { kind: 'threshold', metric: 'visitors', window: 'hour', direction: 'below', value: 5 },
      madeAt,
    ],
  )
  await postgres.query(
    `INSERT INTO visit_alerts (visit_alert_id, project_id, name, match, tier, active, created_at, updated_at)
     VALUES ($1, $2, 'Acme visits', $3, 'resolution_full_profile', false, $4, $4) ON CONFLICT DO NOTHING`,
    [
      sampleIdentity.visitAlertId,
      projectId,
      { kind: 'company', company_domain: 'acme.example' },
      madeAt,
    ],
  )
  await postgres.query(
    `INSERT INTO opt_outs (opt_out_id, organization_id, cookie_id, created_at, is_known_to_clickhouse)
     VALUES ($1, $2, $3, $4, true) ON CONFLICT DO NOTHING`,
    [optOutId, organizationId, sampleOptedOut, madeAt],
  )
  await postgres.query(
    `INSERT INTO erasures (erasure_id, organization_id, requested_at, emptied_at, finished_at)
     VALUES ($1, $2, $3, $3, $3) ON CONFLICT DO NOTHING`,
    [erasureId, organizationId, madeAt],
  )
}
