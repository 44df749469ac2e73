import { createHmac, randomBytes } from 'node:crypto'

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
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
