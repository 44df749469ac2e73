import type { FastifyPluginAsync } from 'fastify'
import type { BillingDeps } from './deps.ts'
import { limitsRoutes } from './limitsRoutes.ts'
import { usageRoutes } from './usageRoutes.ts'

/** /api/v1/billing/*: what was used, and how much may be. */
export const billingRoutes =
  (deps: BillingDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(usageRoutes(deps))
    await app.register(limitsRoutes(deps))
  }
