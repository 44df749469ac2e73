import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../../api/access/network.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { Config } from '../../config.ts'

export interface PixelEvents {
  pixelId: string
  /** Back ends with a key have a limit of their own, which visitors cannot use up. */
  isVerifiedBackend: boolean
}

/** Limits floods, per worker process. Each function rejects with 429 "rate_limited". */
export interface IngestLimits {
  /**
   * Admits a call with this many events from an address, before they are read. A call may exceed the limit if its
   * address has sent nothing in this second. The address then waits as long as the call has used up.
   */
  admit(clientIp: string, events: number): Promise<void>
  /** Requires that an address has not used up its limit, and counts nothing. */
  requireRoomOf(clientIp: string): Promise<void>
  /** Requires that a pixel can store this many events in this second, and counts none. */
  requireRoom(pixel: PixelEvents, events: number): Promise<void>
  /** Counts the events of a pixel that are stored next. A refused call counts none. */
  countStored(pixel: PixelEvents, events: number): Promise<void>
  /** Counts events that requireRoom has admitted. */
  countAdmitted(pixel: PixelEvents, events: number): Promise<void>
}

/**
 * Limits the events a second from one address (for IPv6 one /64), and the stored events a second of one pixel.
 * FOOTFALL_EVENTS_PER_IP and FOOTFALL_EVENTS_PER_PIXEL set the limits; 0 turns a limit off. Events that are not stored
 * use up the limit of their address only, so nobody can use up the limit of a pixel with them.
 */
export function createIngestLimits({ eventsPerIp, eventsPerPixel }: Config): IngestLimits {
  return { ...limitOfAddresses(eventsPerIp), ...limitOfPixels(eventsPerPixel) }
}

type AddressLimits = Pick<IngestLimits, 'admit' | 'requireRoomOf'>

function limitOfAddresses(perSecond: number): AddressLimits {
  if (perSecond === 0) return { admit: async () => {}, requireRoomOf: async () => {} }
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
  return {
    async admit(clientIp, events) {
      const network = networkOf(clientIp)
      try {
        await limiter.consume(network, events)
      } catch (refusal) {
        const { consumedPoints } = refusal as RateLimiterRes
        if (consumedPoints !== events) throw tooManyEvents(refusal as RateLimiterRes)
        await limiter.block(network, Math.ceil(events / perSecond))
      }
    },
    async requireRoomOf(clientIp) {
      const used = await limiter.get(networkOf(clientIp))
      if (used && used.consumedPoints >= perSecond) throw tooManyEvents(used)
    },
  }
}

function limitOfPixels(perSecond: number): Omit<IngestLimits, keyof AddressLimits> {
  const none = async () => {}
  if (perSecond === 0) return { requireRoom: none, countStored: none, countAdmitted: none }
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
  const keyOf = ({ pixelId, isVerifiedBackend }: PixelEvents) =>
    isVerifiedBackend ? `${pixelId} verified` : pixelId
  const requirePossible = (events: number) => {
    if (events > perSecond)
      throw new ApiError(
        413,
        'too_large',
        `A call must have at most ${perSecond} events, the limit of a pixel for one second (got ${events}).`,
      )
  }
  return {
    async requireRoom(pixel, events) {
      requirePossible(events)
      const used = await limiter.get(keyOf(pixel))
      if (used && used.consumedPoints + events > perSecond) throw tooManyEvents(used)
    },
    async countStored(pixel, events) {
      requirePossible(events)
      const key = keyOf(pixel)
      try {
        await limiter.consume(key, events)
      } catch (refusal) {
        await limiter.reward(key, events)
        throw tooManyEvents(refusal as RateLimiterRes)
      }
    },
    async countAdmitted(pixel, events) {
      await limiter.penalty(keyOf(pixel), events)
    },
  }
}

function tooManyEvents({ msBeforeNext }: RateLimiterRes): ApiError {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new ApiError(429, 'rate_limited', 'Too many events. Wait, then send again.', {
    headers: { 'retry-after': String(seconds) },
  })
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
