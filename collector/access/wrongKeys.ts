import { RateLimiterMemory } from 'rate-limiter-flexible'
import { ApiError } from '../http/errors.ts'
import { networkOf } from './network.ts'

/** Keys and secrets that were not good, of one address and in one process. */
const perMinute = 60
const goodKeysMax = 10_000

/** Keeps those who try keys from asking the database for each. */
export interface WrongKeyLimit {
  /** Throws 429 "rate_limited" for a key that was not good lately, from an address with too many wrong ones. */
  require(address: string, apiKey: string): Promise<void>
  noteWrong(address: string): Promise<void>
  noteGood(apiKey: string): void
}

/** Makes the limit of one process. Keys that have been good in it are let by, whatever their neighbours do. */
export function createWrongKeyLimit(): WrongKeyLimit {
  const wrong = new RateLimiterMemory({ points: perMinute, duration: 60 })
  const good = new Set<string>()
  return {
    async require(address, apiKey) {
      const tries = await wrong.get(networkOf(address))
      if (!tries || tries.consumedPoints < perMinute || good.has(apiKey)) return
      throw new ApiError(
        429,
        'rate_limited',
        'Too many wrong API keys from this address: wait, then try again.',
        {
          headers: { 'retry-after': String(Math.max(1, Math.ceil(tries.msBeforeNext / 1000))) },
        },
      )
    },
    noteWrong: async (address) => {
      await wrong.consume(networkOf(address)).catch(() => {})
    },
    noteGood(apiKey) {
      if (good.size >= goodKeysMax) good.clear()
      good.add(apiKey)
    },
  }
}
