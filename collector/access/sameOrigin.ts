import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'

const safeMethods = ['GET', 'HEAD', 'OPTIONS']

/**
 * Throws 403 "cross_origin" for a request that changes something and does not come from a page of this service:
 * browsers send the session's cookie along with forms of other sites of the same domain too.
 */
export function requireSameOrigin(request: FastifyRequest): void {
  if (safeMethods.includes(request.method)) return
  const { origin, 'sec-fetch-site': site } = request.headers
  const isSame =
    origin === undefined
      ? site === 'same-origin'
      : URL.canParse(origin) && new URL(origin).host === request.host
  if (!isSame) {
    throw new ApiError(403, 'cross_origin', 'A session serves only requests of the dashboard’s own pages.')
  }
}
