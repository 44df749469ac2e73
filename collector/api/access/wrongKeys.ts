import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../http/errors.ts'
import { networkOf } from './network.ts'

/** Wrong keys and secrets of one network in a minute that one process answers with 401. */
const perMinute = 60

/**
 * The limit of wrong keys, and of wrong secrets of a known key, by network. Right ones always pass: keys and secrets
 * are too long to guess, and callers must not lock out others behind the same address.
 */
export interface WrongKeyLimit {
  /** Counts a wrong one. Throws 429 "rate_limited" if its network has sent too many. */
  count(address: string): Promise<void>
}

/** Creates the limit of one process. */
export function createWrongKeyLimit(): WrongKeyLimit {
  const wrong = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return {
    async count(address) {
      try {
        await wrong.consume(networkOf(address))
      } catch (refusal) {
        const { msBeforeNext } = refusal as RateLimiterRes
        throw new ApiError(
          429,
          'rate_limited',
          'Too many wrong API keys or secrets from this address. Retry after the seconds in Retry-After.',
          { headers: { 'retry-after': String(Math.max(1, Math.ceil(msBeforeNext / 1000))) } },
        )
      }
    },
  }
}
