import type { FastifyInstance } from 'fastify'

/**
 * Has browsers use https alone for the host of `publicUrl`, where it is https. Its other hosts are not ours to decide
 * about, so neither subdomains nor a preload list are named. `isOfSites` tells the paths that proxies publish under the
 * names of customers’ sites: their answers, errors among them, leave it out.
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
