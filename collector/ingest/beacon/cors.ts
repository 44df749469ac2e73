import type { FastifyInstance } from 'fastify'

/** What pages of other sites load and send to. */
const openPaths = ['/e', '/e.gif', '/p/:file']
const preflightSeconds = 86_400

/**
 * Lets pages of any origin use the routes of this plugin, with the visitor's cookie; which origins may send is each
 * pixel's setting. No other route of the service is open to other sites.
 */
export function allowAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    reply.header('vary', 'Origin')
    if (origin !== undefined) {
      reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true')
    }
    done()
  })
  for (const path of openPaths) {
    app.options(path, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'GET, HEAD, POST',
          'access-control-allow-headers': 'Content-Type',
          'access-control-max-age': String(preflightSeconds),
          'cache-control': `public, max-age=${preflightSeconds}`,
        })
        .send(),
    )
  }
}
