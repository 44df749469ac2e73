import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { methodNotAllowed, notFound } from './errors.ts'

/** Refuses requests without a route: 405 if the path has other methods, or 404. */
export function createRefuseUnknown(app: FastifyInstance): (request: FastifyRequest) => never {
  // Fastify matches the method first, and does not report a path's other methods.
  const router = findMyWay({ ignoreTrailingSlash: true })
  const methods = new Set<HTTPMethod>()
  app.addHook('onRoute', ({ url, method: declared }) => {
    for (const method of [declared].flat() as HTTPMethod[]) {
      methods.add(method)
      if (!router.hasRoute(method, url)) router.on(method, url, () => {})
    }
  })
  return ({ method, url }) => {
    const path = url.split('?')[0]!
    const allowed = [...methods].filter((each) => router.find(each, path) !== null).sort()
    throw allowed.length > 0
      ? methodNotAllowed(method, path, allowed)
      : notFound.route(method, path)
  }
}
