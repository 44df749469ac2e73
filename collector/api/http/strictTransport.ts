import type { FastifyInstance } from 'fastify'

/**
 * Adds Strict-Transport-Security if `publicUrl` uses https. It does not cover subdomains or the preload list,
 * because the operator decides about those hosts. `isOfSites` matches paths that proxies publish under
 * customers' host names; their responses omit the header.
 */
export function requireStrictTransport(
  app: FastifyInstance,
  publicUrl: string,
  isOfSites: (url: string) => boolean,
): void {
  if (!publicUrl.startsWith('https:')) return
  app.addHook('onRequest', ({ url }, reply, done) => {
    if (!isOfSites(url)) reply.header('strict-transport-security', 'max-age=31536000')
    done()
  })
}
