import type { Postgres } from '../../platform/postgres/pool.ts'

/** A delivery that this process tries now. */
export interface ClaimedDelivery {
  delivery_id: string
  webhook_id: string
  organization_id: string
  message_id: string
  type: string
  data: unknown
  created_at: Date
  attempts_of_round: number
  url: string
  sealed_secret: string
  /** Null after its expiry. */
  former_sealed_secret: string | null
}

/** Longer than a try may take: afterwards its process counts as dead, and another one retries. */
const leaseSeconds = 30
/** Concurrent tries of a webhook, so that a slow one does not delay others. */
const concurrency = { working: 16, failing: 1 }
/**
 * Limit of an organization, beyond the first ones of each of its webhooks. Tries of other organizations run
 * in between, even if many receivers of one hang. So do those of its own receivers that work.
 */
const organization = { concurrency: 64, first: 2 }

/** Dispatches messages of the outbox to subscribed webhooks. Returns whether there may be more. */
export async function dispatchMessages(postgres: Postgres): Promise<boolean> {
  const messagesMax = 1_000
  const { rows } = await postgres.query<{ taken: number }>(
    `WITH taken AS (
       SELECT message_id FROM outbox_messages WHERE dispatched_at IS NULL
       ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED
     ), message AS (
       UPDATE outbox_messages SET dispatched_at = now() FROM taken
       WHERE outbox_messages.message_id = taken.message_id RETURNING outbox_messages.*
     ), given AS (
       INSERT INTO webhook_deliveries (delivery_id, webhook_id, message_id)
       SELECT gen_random_uuid(), webhook_id, message_id FROM message JOIN webhooks USING (organization_id)
       WHERE is_enabled AND type = ANY(event_types)
         AND (webhooks.project_id IS NULL OR webhooks.project_id = message.project_id)
       ON CONFLICT DO NOTHING
     )
     SELECT count(*)::int AS taken FROM taken`,
    [messagesMax],
  )
  return rows[0]!.taken === messagesMax
}

/** Claims up to `deliveriesMax` due deliveries, within the concurrency limits of each webhook and organization. */
export async function claimDeliveries(
  postgres: Postgres,
  deliveriesMax: number,
): Promise<ClaimedDelivery[]> {
  const { rows } = await postgres.query<ClaimedDelivery>(
    `WITH leased AS (
       SELECT webhook_id, count(*) AS count FROM webhook_deliveries WHERE leased_until > now() GROUP BY webhook_id
     ), leased_of_organization AS (
       SELECT organization_id, sum(count) AS count FROM leased JOIN webhooks USING (webhook_id)
       GROUP BY organization_id
     ), ready AS (
       SELECT delivery_id, webhook_id, organization_id, next_attempt_at FROM webhooks CROSS JOIN LATERAL (
         SELECT delivery_id, next_attempt_at FROM webhook_deliveries
         WHERE webhook_id = webhooks.webhook_id AND status = 'pending' AND next_attempt_at <= now()
           AND (leased_until IS NULL OR leased_until <= now())
         ORDER BY next_attempt_at LIMIT greatest(0,
           CASE WHEN failing_since IS NULL THEN $2::int ELSE $3::int END
             - (SELECT count(*) FROM webhook_deliveries
                WHERE webhook_id = webhooks.webhook_id AND leased_until > now()))
         FOR UPDATE SKIP LOCKED) AS first
       WHERE is_enabled
     ), due AS (
       SELECT delivery_id FROM (
         SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY place) AS place_of_organization
         FROM (SELECT *, row_number() OVER (PARTITION BY webhook_id ORDER BY next_attempt_at) AS place FROM ready)
           AS of_webhook
       ) AS placed LEFT JOIN leased USING (webhook_id) LEFT JOIN leased_of_organization AS theirs USING (organization_id)
       WHERE place + coalesce(leased.count, 0) <= $6 OR place_of_organization + coalesce(theirs.count, 0) <= $5
       ORDER BY place LIMIT $1
     ), claimed AS (
       UPDATE webhook_deliveries SET leased_until = now() + $4 * interval '1 second' FROM due
       WHERE webhook_deliveries.delivery_id = due.delivery_id RETURNING webhook_deliveries.*
     )
     SELECT delivery_id, webhook_id, message.organization_id, message_id, type, data, message.created_at,
       attempts_of_round, url, sealed_secret,
       CASE WHEN former_secret_until > now() THEN former_sealed_secret END AS former_sealed_secret
     FROM claimed JOIN webhooks USING (webhook_id) JOIN outbox_messages AS message USING (message_id)`,
    [
      deliveriesMax,
      concurrency.working,
      concurrency.failing,
      leaseSeconds,
      organization.concurrency,
      organization.first,
    ],
  )
  return rows
}

/** Seconds until the next delivery is due, or until the lease of a possibly dead process ends. Null: none. */
export async function secondsUntilDue(postgres: Postgres): Promise<number | null> {
  const { rows } = await postgres.query<{ seconds: number | null }>(
    `SELECT extract(epoch FROM least(
       (SELECT min(next_attempt_at) FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at > now()),
       (SELECT min(leased_until) FROM webhook_deliveries WHERE leased_until > now())) - now())::float8 AS seconds`,
  )
  return rows[0]!.seconds
}
