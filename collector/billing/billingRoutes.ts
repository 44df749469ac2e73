import type { FastifyPluginAsync } from 'fastify'
import type { BillingDeps } from './billingDeps.ts'
import { forecastRoute } from './forecastRoute.ts'
import { limitsRoutes } from './limitsRoutes.ts'
import { pricesRoute } from './pricesRoute.ts'
import { usageRoutes } from './usageRoutes.ts'

/** /api/v1/billing/*: usage, limits and prices. */
export const billingRoutes =
  (deps: BillingDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(usageRoutes(deps))
    await app.register(forecastRoute(deps))
    await app.register(limitsRoutes(deps))
    await app.register(pricesRoute(deps))
  }
