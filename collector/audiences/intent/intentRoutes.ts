import type { FastifyPluginAsync } from 'fastify'
import { batchRoute } from './batchRoute.ts'
import type { IntentDeps } from './intentDeps.ts'
import { rulesRoutes } from './rulesRoutes.ts'
import { statsRoutes } from './statsRoutes.ts'
import { topicRoutes } from './topicRoutes.ts'

/**
 * /api/v1/intent: the interests of people and companies; /api/v1/stats/tables/intent-…: numbers of signals.
 */
export const intentRoutes =
  (deps: IntentDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(batchRoute(deps))
    await app.register(topicRoutes(deps))
    await app.register(statsRoutes(deps))
    await app.register(rulesRoutes(deps))
  }
