import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

const prefix = 'whsec_'
/** Standard Webhooks requires 24 to 64 bytes. */
const secretBytes = 32

/** Returns a new webhook secret, in the format that the receiver stores. */
export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

interface SignedMessage {
  /** The id of the message, which is the same in every attempt. */
  id: string
  /** The time of this attempt, epoch milliseconds: receivers refuse old messages. */
  nowMs: number
  body: string
}

/**
 * Returns the headers of a message signed with each of the secrets, the newest first.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signMessage(secrets: readonly string[], { id, nowMs, body }: SignedMessage) {
  const sentAt = new Date(nowMs)
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': signatures.join(' '),
  }
}
