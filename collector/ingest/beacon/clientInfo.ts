import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { authenticateRequest, type GuardDeps } from '../../api/access/guard.ts'
import { coversRole } from '../../api/access/permissions.ts'
import { ApiError, malformed } from '../../api/http/errors.ts'
import { wellFormed } from '../normalize/text.ts'
import type { BeaconRequest, Envelope } from './beacon.ts'
import type { Pixel } from './pixelRegistry.ts'

/** The browser that sent a beacon, according to the connection or to a back end with a key. */
export interface ClientInfo {
  ip: string
  userAgent: string
  /** Whether a back end with a valid key sent the beacon. */
  isVerifiedBackend: boolean
}

/** Decides whether the key of a request may name the visitor of its beacon for this pixel. */
export type VerifiesBackend = (request: FastifyRequest, pixel: Pixel) => Promise<boolean>

const ofKeys = { to: 'key', projectKeys: 'own project', keyRole: 'write', limit: 'data' } as const

/**
 * Accepts a live key that may write in the pixel's project, and ignores any other key, because a beacon needs
 * none. Rejects if PostgreSQL is unavailable, or with 429 if the network sent too many wrong keys. The back end then
 * retries, and no event is stored under its own address.
 */
export const createVerifiesBackend =
  (guard: Pick<GuardDeps, 'authenticate' | 'wrongKeys' | 'noteKeyUse'>): VerifiesBackend =>
  async (request, pixel) => {
    try {
      const { caller, mode, organizationId, projectId } = await authenticateRequest(
        guard,
        ofKeys,
        request,
      )
      if (caller.kind !== 'key' || mode !== 'live' || !coversRole(caller.role, 'write'))
        return false
      if (organizationId !== pixel.organizationId) return false
      if (projectId !== null && projectId !== pixel.projectId) return false
      guard.noteKeyUse(caller.keyId)
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status !== 429) return false
      throw error
    }
  }

/**
 * Returns the sender of a beacon. `client_ip` and `user_agent` of the body count only for a verified back
 * end. Throws 400 "malformed" if they are not an address and a text.
 */
export function clientInfoOf(
  request: BeaconRequest,
  { client_ip = request.ip, user_agent = request.headers['user-agent'] ?? '' }: Envelope,
  isVerifiedBackend: boolean,
): ClientInfo {
  if (!isVerifiedBackend)
    return { ip: request.ip, userAgent: request.headers['user-agent'] ?? '', isVerifiedBackend }
  if (typeof client_ip !== 'string' || isIP(client_ip) === 0)
    throw malformed('client_ip must be an IPv4 or IPv6 address.')
  if (typeof user_agent !== 'string') throw malformed('user_agent must be a string.')
  return { ip: client_ip, userAgent: wellFormed(user_agent), isVerifiedBackend }
}

/** Throws 403 "origin not allowed" for a page of an origin that the pixel does not list. */
export function requireAllowedOrigin({ allowedOrigins }: Pixel, request: BeaconRequest): void {
  if (allowedOrigins.length === 0) return
  const origin = originOf(request)
  if (origin === null || !allowedOrigins.includes(origin)) {
    throw new ApiError(
      403,
      'origin not allowed',
      `This pixel does not accept events from ${origin ?? 'an unknown origin'}. If the site is yours, add the origin to the allowed origins of the pixel.`,
    )
  }
}

/** The page's origin: browsers send it with every POST; an image request has only a Referer. */
export function originOf({ headers }: Pick<BeaconRequest, 'headers'>): string | null {
  const { origin, referer } = headers
  if (origin !== undefined) return origin
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : null
}
