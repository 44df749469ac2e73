import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { type GuardDeps, identify } from '../../api/access/guard.ts'
import { coversRole } from '../../api/access/permissions.ts'
import { ApiError, malformed } from '../../api/http/errors.ts'
import { wellFormed } from '../normalize/text.ts'
import type { Envelope } from './beacon.ts'
import type { BeaconRequest } from './beaconRequest.ts'
import type { Pixel } from './pixelRegistry.ts'

/** Whose browser a beacon is of, as the network tells it, or a back end with a key. */
export interface Sender {
  ip: string
  userAgent: string
  /** A key said so, in place of the network. */
  isVouched: boolean
}

/** Whether the key of a request may say of whom its beacon for this pixel is. */
export type Vouches = (request: FastifyRequest, pixel: Pixel) => Promise<boolean>

const ofKeys = { to: 'key', projectKeys: 'own project', keyRole: 'write', limit: 'data' } as const

/**
 * A live key that may write in the pixel's project vouches. Any other is as good as none: what pages send asks for no
 * key, so there is none to refuse. Rejects while PostgreSQL is away: the back end sends again, and nothing is stored
 * under an address that is not the visitor's.
 */
export const createVouches =
  (guard: Pick<GuardDeps, 'authenticate' | 'wrongKeys' | 'noteKeyUse'>): Vouches =>
  async (request, pixel) => {
    try {
      const { caller, mode, organizationId, projectId } = await identify(guard, ofKeys, request)
      if (caller.kind !== 'key' || mode !== 'live' || !coversRole(caller.role, 'write'))
        return false
      if (organizationId !== pixel.organizationId) return false
      if (projectId !== null && projectId !== pixel.projectId) return false
      guard.noteKeyUse(caller.keyId)
      return true
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
  }

/**
 * Who sends a beacon. `client_ip` and `user_agent` are read of what a key vouches for alone; 400 "malformed" is thrown
 * where they are neither an address nor a text.
 */
export function senderOf(
  request: BeaconRequest,
  { client_ip = request.ip, user_agent = request.headers['user-agent'] ?? '' }: Envelope,
  isVouched: boolean,
): Sender {
  if (!isVouched)
    return { ip: request.ip, userAgent: request.headers['user-agent'] ?? '', isVouched }
  if (typeof client_ip !== 'string' || isIP(client_ip) === 0)
    throw malformed('client_ip must be an IPv4 or IPv6 address.')
  if (typeof user_agent !== 'string') throw malformed('user_agent must be a string.')
  return { ip: client_ip, userAgent: wellFormed(user_agent), isVouched }
}
