import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { ApiError } from '../http/errors.ts'
import { networkOf } from './network.ts'

/** Wrong keys and secrets that one network may send to one process. */
const perMinute = 60
const goodCredentialsMax = 10_000

/** Limits attempts with wrong keys, and with wrong secrets of a known key. */
export interface WrongKeyLimit {
  /**
   * Throws 429 "rate_limited" for credentials that were not recently accepted, from a network with too many
   * wrong ones.
   */
  require(address: string, credentials: string): Promise<void>
  noteWrong(address: string): Promise<void>
  noteGood(credentials: string): void
}

/** Returns a hash that identifies the credentials of a request; null without a key or token. */
export function credentialsOf({ headers }: FastifyRequest): string | null {
  const { 'x-api-key': apiKey, 'x-api-secret': secret, authorization } = headers
  if (apiKey === undefined && authorization === undefined) return null
  return createHash('sha256')
    .update(JSON.stringify([apiKey ?? authorization, secret]))
    .digest('base64')
}

/**
 * Creates the limit of one process. It counts by network, so a caller in another network cannot block a key.
 * A key with the last accepted secret always passes, so callers in the same network cannot block it either.
 * The same key with another secret is counted.
 */
export function createWrongKeyLimit(): WrongKeyLimit {
  const wrong = new RateLimiterMemory({ points: perMinute, duration: 60 })
  const good = new Set<string>()
  return {
    async require(address, credentials) {
      const tries = await wrong.get(networkOf(address))
      if (!tries || tries.consumedPoints < perMinute || good.has(credentials)) return
      throw new ApiError(
        429,
        'rate_limited',
        'Too many wrong API keys or secrets from this address. Retry after the seconds in Retry-After.',
        {
          headers: { 'retry-after': String(Math.max(1, Math.ceil(tries.msBeforeNext / 1000))) },
        },
      )
    },
    noteWrong: async (address) => {
      await wrong.consume(networkOf(address)).catch(() => {})
    },
    noteGood(credentials) {
      if (good.size >= goodCredentialsMax) good.clear()
      good.add(credentials)
    },
  }
}
