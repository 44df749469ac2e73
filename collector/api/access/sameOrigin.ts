import type { FastifyRequest } from 'fastify'
import { ApiError } from '../http/errors.ts'

const safeMethods = ['GET', 'HEAD', 'OPTIONS']

/**
 * Throws 403 "cross_origin" for a request that writes or is charged, and does not come from a page of this
 * service. Browsers also send the session cookie with forms of other sites of the same domain, and with links
 * from anywhere. FOOTFALL_PUBLIC_URL defines the pages of this service, never a header that names a host.
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  const { method, headers, routeOptions } = request
  const isSafe = safeMethods.includes(method)
  // Links and forms cannot send this header. Browsers send no Origin header if a page requests its own
  // origin.
  if (isSafe && (!routeOptions.config.charged || headers['x-organization-id'] !== undefined)) return
  const { origin, 'sec-fetch-site': site } = headers
  const isSame = origin === undefined ? site === 'same-origin' : isOriginOf(origin, publicUrl)
  if (!isSame) {
    throw new ApiError(
      403,
      'cross_origin',
      `Sessions work only for requests of the dashboard’s own pages, at ${new URL(publicUrl).origin}.`,
    )
  }
}

function isOriginOf(origin: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const [theirs, ours] = [new URL(origin), new URL(publicUrl)]
  return (
    theirs.origin === ours.origin ||
    (isLoopback(theirs) && isLoopback(ours) && theirs.port === ours.port)
  )
}

/** On one machine, localhost and 127.0.0.1 name the same service. */
const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
