import { createHmac, timingSafeEqual } from 'node:crypto'
import { serviceSecret } from '../../api/access/serviceSecret.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Tokens that identify a subscription in links of mails. They cannot be forged, and are not stored. */
export interface UnsubscribeTokens {
  of(subscriptionId: string): string
  /** Returns the subscription of a token; null for an invalid one. */
  read(token: string): string | null
}

const form = /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})([\da-f]{32})$/

/** A token has 32 hexadecimal characters of the id, and as many of its HMAC-SHA-256. */
export async function openUnsubscribeTokens(postgres: Postgres): Promise<UnsubscribeTokens> {
  const key = await serviceSecret(postgres, 'unsubscribe_key')
  const signatureOf = (subscriptionId: string) =>
    createHmac('sha256', key).update(subscriptionId).digest('hex').slice(0, 32)
  return {
    of: (subscriptionId) => subscriptionId.replaceAll('-', '') + signatureOf(subscriptionId),
    read(token) {
      const parts = form.exec(token)
      if (!parts) return null
      const subscriptionId = parts.slice(1, 6).join('-')
      const isOurs = timingSafeEqual(
        Buffer.from(signatureOf(subscriptionId)),
        Buffer.from(parts[6]!),
      )
      return isOurs ? subscriptionId : null
    },
  }
}
