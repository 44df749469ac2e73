import { parse } from 'cookie'
import type { FastifyRequest } from 'fastify'

/**
 * The cookie of a member who is signed in to the dashboard. Over https its name begins with `__Host-`: browsers take
 * such a cookie from this very host only, over https, so no other host of the domain can plant a session.
 */
export const sessionCookie = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-footfall_session' : 'footfall_session'

/** The session that a request carries; null without one. */
export function sessionOf(request: FastifyRequest, publicUrl: string): string | null {
  const { cookie } = request.headers
  const name = sessionCookie(publicUrl)
  return (cookie?.includes(`${name}=`) && parse(cookie)[name]) || null
}
