import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../../api/access/network.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { Config } from '../../config.ts'

/** Asks whether one more beacon of a pixel and an address may be taken. Rejects with 429. */
export type IngestLimits = (pixelId: string, clientIp: string) => Promise<void> | undefined

/**
 * Guards against floods, per worker process: so many beacons a second from one address (of IPv6: one /64) and for one pixel
 * (FOOTFALL_BEACONS_PER_IP, FOOTFALL_BEACONS_PER_PIXEL; 0 switches a limit off).
 */
export function createIngestLimits({ beaconsPerIp, beaconsPerPixel }: Config): IngestLimits {
  const perIp = limiter(beaconsPerIp)
  const perPixel = limiter(beaconsPerPixel)
  if (!perIp && !perPixel) return () => undefined
  return async (pixelId, clientIp) => {
    try {
      await perIp?.consume(networkOf(clientIp))
      await perPixel?.consume(pixelId)
    } catch (refusal) {
      const seconds = Math.max(1, Math.ceil((refusal as RateLimiterRes).msBeforeNext / 1000))
      throw new ApiError(429, 'rate_limited', 'Too many beacons. Wait, then send again.', {
        headers: { 'retry-after': String(seconds) },
      })
    }
  }
}

/** Asks whether one more unsigned identify from an address may be accepted. */
export type IdentifyLimit = (clientIp: string) => Promise<boolean>

/**
 * Guards against who says of many browsers whose they are, per worker process: so many a minute from one address (of
 * IPv6: one /64) that no server signed (FOOTFALL_IDENTIFIES_PER_IP; 0 switches it off).
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
