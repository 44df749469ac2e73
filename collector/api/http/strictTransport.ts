import type { FastifyInstance } from 'fastify'

const header = 'strict-transport-security'

/**
 * Has browsers use https alone for the host of `publicUrl`, where it is https. Its other hosts are not ours to decide
 * about, so neither subdomains nor a preload list are named.
 */
export function requireStrictTransport(app: FastifyInstance, publicUrl: string): void {
  if (!publicUrl.startsWith('https:')) return
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header(header, 'max-age=31536000')
    done()
  })
}

/** Leaves it out of the routes of a plugin: proxies publish these under the names of customers’ sites. */
export function withoutStrictTransport(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.removeHeader(header)
    done()
  })
}
