import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../../api/access/network.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { Config } from '../../config.ts'

/**
 * Admits a call with one or more beacons of a pixel and an address, or rejects with 429. A call that is admitted
 * counts with all its beacons, so a call may be larger than the limit, but delays the next ones.
 */
export type IngestLimits = (
  pixelId: string,
  clientIp: string,
  beacons?: number,
) => Promise<void> | undefined

/**
 * Limits floods, per worker process: beacons a second from one address (for IPv6 one /64) and for one pixel.
 * FOOTFALL_BEACONS_PER_IP and FOOTFALL_BEACONS_PER_PIXEL set the limits; 0 turns a limit off.
 */
export function createIngestLimits({ beaconsPerIp, beaconsPerPixel }: Config): IngestLimits {
  const perIp = limiter(beaconsPerIp)
  const perPixel = limiter(beaconsPerPixel)
  if (!perIp && !perPixel) return () => undefined
  return async (pixelId, clientIp, beacons = 1) => {
    try {
      await perIp?.consume(networkOf(clientIp))
      await perPixel?.consume(pixelId)
      if (beacons === 1) return
      await perIp?.penalty(networkOf(clientIp), beacons - 1)
      await perPixel?.penalty(pixelId, beacons - 1)
    } catch (refusal) {
      const seconds = Math.max(1, Math.ceil((refusal as RateLimiterRes).msBeforeNext / 1000))
      throw new ApiError(429, 'rate_limited', 'Too many beacons. Wait, then send again.', {
        headers: { 'retry-after': String(seconds) },
      })
    }
  }
}

/** Returns whether one more unsigned identify from an address is accepted. */
export type IdentifyLimit = (clientIp: string) => Promise<boolean>

/**
 * Limits unsigned identify calls for many browsers, per worker process: calls a minute from one address (for
 * IPv6 one /64). FOOTFALL_IDENTIFIES_PER_IP sets it; 0 turns it off.
 */
export function createIdentifyLimit({ identifiesPerIp }: Config): IdentifyLimit {
  if (identifiesPerIp === 0) return async () => true
  const perIp = new RateLimiterMemory({ points: identifiesPerIp, duration: 60 })
  return (clientIp) =>
    perIp.consume(networkOf(clientIp)).then(
      () => true,
      () => false,
    )
}

const limiter = (perSecond: number) =>
  perSecond > 0 ? new RateLimiterMemory({ points: perSecond, duration: 1 }) : null
