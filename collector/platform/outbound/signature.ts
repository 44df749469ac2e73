import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

const prefix = 'whsec_'
/** Standard Webhooks asks for 24 to 64. */
const secretBytes = 32

/** A new secret to sign webhooks with, as its receiver keeps it. */
export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

export interface SignedMessage {
  /** The same in every try. */
  id: string
  /** When this try is made, epoch milliseconds: receivers refuse old ones. */
  nowMs: number
  body: string
}

/**
 * The headers of a message signed with each of the secrets, the newest first.
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
