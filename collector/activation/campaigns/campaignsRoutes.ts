import type { FastifyPluginAsync } from 'fastify'
import { budgetRoutes } from './budgetRoutes.ts'
import { recordRoutes } from './campaignRoutes.ts'
import type { CampaignsDeps } from './campaignsDeps.ts'
import { performanceRoutes } from './performanceRoutes.ts'

/** /api/v1/campaigns: campaigns, and their performance and cost. */
export const campaignsRoutes =
  (deps: CampaignsDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(recordRoutes(deps))
    await app.register(performanceRoutes(deps))
    await app.register(budgetRoutes(deps))
  }
