import type { FastifyPluginAsync } from 'fastify'
import type { ReadDeps } from '../query/deps.ts'
import { breakdownRoute } from './breakdownRoute.ts'
import { liveRoute } from './liveRoute.ts'
import { overviewRoute } from './overviewRoute.ts'
import { timeseriesRoute } from './timeseriesRoute.ts'

/** /api/v1/analytics: figures about the events that pixels captured. */
export const analyticsRoutes =
  (deps: ReadDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(overviewRoute(deps))
    await app.register(timeseriesRoute(deps))
    await app.register(breakdownRoute(deps))
    await app.register(liveRoute(deps))
  }
