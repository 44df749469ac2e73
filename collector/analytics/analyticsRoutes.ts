import type { FastifyPluginAsync } from 'fastify'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { breakdownRoute } from './breakdownRoute.ts'
import { conversionsRoute } from './conversionsRoute.ts'
import { funnelRoute } from './funnelRoute.ts'
import { goalsRoutes } from './goalsRoutes.ts'
import { journeysRoute } from './journeysRoute.ts'
import { liveRoute } from './liveRoute.ts'
import { overviewRoute } from './overviewRoute.ts'
import { retentionRoute } from './retentionRoute.ts'
import { savedRoutes } from './saved/savedRoutes.ts'
import { timeseriesRoute } from './timeseriesRoute.ts'
import { visitorsRoute } from './visitorsRoute.ts'
import { webVitalsRoute } from './webVitalsRoute.ts'

/** /api/v1/analytics: figures computed from events of pixels. */
export const analyticsRoutes =
  (deps: ReadDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(overviewRoute(deps))
    await app.register(timeseriesRoute(deps))
    await app.register(breakdownRoute(deps))
    await app.register(liveRoute(deps))
    await app.register(funnelRoute(deps))
    await app.register(retentionRoute(deps))
    await app.register(journeysRoute(deps))
    await app.register(goalsRoutes(deps))
    await app.register(savedRoutes(deps))
    await app.register(conversionsRoute(deps))
    await app.register(visitorsRoute(deps))
    await app.register(webVitalsRoute(deps))
  }
