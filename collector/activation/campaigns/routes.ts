import type { FastifyPluginAsync } from 'fastify'
import { budgetRoutes } from './budgetRoutes.ts'
import type { CampaignsDeps } from './deps.ts'
import { performanceRoutes } from './performanceRoutes.ts'
import { recordRoutes } from './recordRoutes.ts'

/** /api/v1/campaigns: the campaigns themselves, and what they did for what. */
export const campaignsRoutes =
  (deps: CampaignsDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(recordRoutes(deps))
    await app.register(performanceRoutes(deps))
    await app.register(budgetRoutes(deps))
  }
