import { parseCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'

/**
 * The name of the session cookie of the dashboard. Over https it begins with `__Host-`. Browsers accept such
 * a cookie only from the host itself over https, so no other host of the domain can set a session.
 */
export const sessionCookie = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-footfall_session' : 'footfall_session'

export function sessionOf(request: FastifyRequest, publicUrl: string): string | null {
  const { cookie } = request.headers
  const name = sessionCookie(publicUrl)
  return (cookie?.includes(`${name}=`) && parseCookie(cookie)[name]) || null
}
