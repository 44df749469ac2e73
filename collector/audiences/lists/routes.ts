import type { FastifyPluginAsync } from 'fastify'
import type { ListsDeps } from './deps.ts'
import { importRoutes } from './importRoutes.ts'
import { listRoutes } from './listRoutes.ts'
import { removeRoute } from './removeRoute.ts'
import { uploadRoutes } from './uploadRoutes.ts'

/** /api/v1/lists: people, companies and browsers that customers name. */
export const listsRoutes =
  (deps: ListsDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(listRoutes(deps))
    await app.register(importRoutes(deps))
    await app.register(removeRoute(deps))
    await app.register(uploadRoutes(deps))
  }
