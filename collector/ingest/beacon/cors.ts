import type { FastifyInstance } from 'fastify'

/** Paths that pages of other sites use. */
const openPaths = ['/e', '/e.gif', '/p/:file']
const preflightSeconds = 86_400

/** Returns the headers that allow a page of `origin` to read a response: alternating names and values. */
export const openTo = (origin: string | undefined): string[] =>
  origin === undefined
    ? ['Vary', 'Origin']
    : [
        'Vary',
        'Origin',
        'Access-Control-Allow-Origin',
        origin,
        'Access-Control-Allow-Credentials',
        'true',
      ]

/**
 * Allows pages of any origin to use the routes of this plugin, with the visitor's cookie; each pixel's
 * settings restrict the origins. No other route of the service accepts requests from other sites.
 */
export function allowAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const headers = openTo(request.headers.origin)
    for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
    done()
  })
  answerPreflights(app, openPaths, 'Content-Type')
}

/** Answers the preflights of browsers for pages of other sites that send one of these headers. */
export function answerPreflights(
  app: FastifyInstance,
  paths: readonly string[],
  headers: string,
): void {
  for (const path of paths) {
    app.options(path, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'GET, HEAD, POST',
          'access-control-allow-headers': headers,
          'access-control-max-age': String(preflightSeconds),
          'cache-control': `public, max-age=${preflightSeconds}`,
        })
        .send(),
    )
  }
}
