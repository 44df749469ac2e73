import type { FastifyPluginAsync } from 'fastify'
import type { CampaignsDeps } from './deps.ts'
import { recordRoutes } from './recordRoutes.ts'
import { reportRoutes } from './reportRoutes.ts'

/** /api/v1/campaigns: the campaigns themselves, and what they did for what. */
export const campaignsRoutes =
  (deps: CampaignsDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(recordRoutes(deps))
    await app.register(reportRoutes(deps))
  }
