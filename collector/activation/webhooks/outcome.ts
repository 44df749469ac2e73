import { mailOwners } from '../../platform/outbox/mails.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { ClaimedDelivery } from './claim.ts'
import { testType } from './deliveries.ts'

export interface Outcome {
  /** Null without a response. */
  status: number | null
  body: string | null
  /** Null after a 2xx response. */
  error: string | null
  retryAfter?: string | undefined
}

/** A webhook whose tries have all failed for this time is disabled. */
const failingDaysMax = 5
/** The status with which a receiver unsubscribes (Standard Webhooks). */
const gone = 410

/** Records the outcome of a try. Returns the seconds until the next try; null: none. */
export async function recordOutcome(
  postgres: Postgres,
  delivery: ClaimedDelivery,
  outcome: Outcome,
  nowMs: number,
): Promise<number | null> {
  const isDelivered = outcome.error === null
  const attempts = delivery.attempts_of_round + 1
  const wait =
    isDelivered || delivery.type === testType
      ? null
      : waitAfter(attempts, outcome.retryAfter, nowMs)
  const status = isDelivered ? 'delivered' : wait === null ? 'failed' : 'pending'
  await inTransaction(postgres, async (client) => {
    await client.query(
      `UPDATE webhook_deliveries SET status = $2, attempts = attempts + 1, attempts_of_round = $3,
         next_attempt_at = now() + $4 * interval '1 second', leased_until = NULL, last_attempt_at = now(),
         response_status = $5, response_body = $6, error = $7
       WHERE delivery_id = $1`,
      [delivery.delivery_id, status, attempts, wait, outcome.status, outcome.body, outcome.error],
    )
    if (isDelivered) {
      await client.query(
        'UPDATE webhooks SET failing_since = NULL WHERE webhook_id = $1 AND failing_since IS NOT NULL',
        [delivery.webhook_id],
      )
    } else if (delivery.type !== testType)
      await noteFailure(client, delivery, outcome.status === gone)
  })
  return wait
}

async function noteFailure(
  client: Queryable,
  { webhook_id: webhookId, organization_id: organizationId }: ClaimedDelivery,
  isGone: boolean,
): Promise<void> {
  await client.query(
    'UPDATE webhooks SET failing_since = now() WHERE webhook_id = $1 AND failing_since IS NULL',
    [webhookId],
  )
  const { rows } = await client.query<{ url: string }>(
    `UPDATE webhooks SET is_enabled = false, disabled_reason = $2, disabled_at = now(), version = version + 1,
       updated_at = now()
     WHERE webhook_id = $1 AND is_enabled AND ($2 = 'gone' OR failing_since <= now() - $3 * interval '1 day')
     RETURNING url`,
    [webhookId, isGone ? 'gone' : 'failing', failingDaysMax],
  )
  if (!rows[0]) return
  await client.query(
    `UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL
     WHERE webhook_id = $1 AND status = 'pending'`,
    [webhookId],
  )
  const { host } = new URL(rows[0].url)
  await mailOwners(client, organizationId, {
    subject: `Webhook to ${host} turned off`,
    text:
      `${isGone ? `${host} answered 410 Gone` : `All attempts of ${failingDaysMax} days failed`}, so nothing more is ` +
      `sent to the webhook ${webhookId}.\n\nOnce its receiver works again, switch it on, and replay what failed:\n` +
      `  PATCH /api/v1/webhooks/${webhookId} {"enabled": true}\n` +
      `  POST /api/v1/webhooks/${webhookId}/replay {"since": "…"}\n`,
  })
}

/**
 * Delays after failed tries, in seconds: the schedule of Standard Webhooks, over three days.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#deliverability-and-reliability
 */
const waits = [
  5,
  5 * 60,
  30 * 60,
  2 * 3_600,
  5 * 3_600,
  10 * 3_600,
  14 * 3_600,
  20 * 3_600,
  24 * 3_600,
]

/** Spreads the retries of messages that failed together. */
const jitter = 0.1
const retryAfterSecondsMax = 86_400

/** The seconds until the next try, at least the receiver's Retry-After; null: no more tries. */
function waitAfter(
  attempts: number,
  retryAfter: string | undefined,
  nowMs: number,
  random = Math.random(),
): number | null {
  const wait = waits[attempts - 1]
  if (wait === undefined) return null
  return Math.max(
    wait * (1 + jitter * random),
    Math.min(secondsOf(retryAfter, nowMs), retryAfterSecondsMax),
  )
}

/** Returns the seconds of a Retry-After, given as seconds or as a date; 0 without one. */
function secondsOf(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - nowMs) / 1000
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds)
}
