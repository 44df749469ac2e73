import type { FastifyPluginAsync } from 'fastify'
import { importRoutes } from './importRoutes.ts'
import { listRoutes } from './listRoutes.ts'
import type { ListsDeps } from './listsDeps.ts'
import { removeRoute } from './removeRoute.ts'
import { uploadRoutes } from './uploadRoutes.ts'

/** /api/v1/lists: people, companies and browsers that customers upload. */
export const listsRoutes =
  (deps: ListsDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(listRoutes(deps))
    await app.register(importRoutes(deps))
    await app.register(removeRoute(deps))
    await app.register(uploadRoutes(deps))
  }
