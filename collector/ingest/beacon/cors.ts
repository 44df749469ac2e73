import type { FastifyInstance } from 'fastify'

/** What pages of other sites load and send to. */
const openPaths = ['/e', '/e.gif', '/p/:file']
const preflightSeconds = 86_400

/** The headers that let a page of `origin` read an answer: names and values in turn. */
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
 * Lets pages of any origin use the routes of this plugin, with the visitor's cookie; which origins may send is each
 * pixel's setting. No other route of the service is open to other sites.
 */
export function allowAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const headers = openTo(request.headers.origin)
    for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
    done()
  })
  answerPreflights(app, openPaths, 'Content-Type')
}

/** Answers what browsers ask before a page of another site sends one of these headers. */
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
