import type { FastifyPluginAsync } from 'fastify'
import { erasureRoutes } from './erasureRoutes.ts'
import { exportRoute } from './exportRoute.ts'
import { linkRemovalRoutes } from './linkRemovalRoutes.ts'
import { optOutRoutes } from './optOutRoutes.ts'
import type { PrivacyDeps } from './privacyDeps.ts'

/** /api/v1/privacy/*: requests of data subjects. For owners, admins and organization keys; never billed. */
export const privacyRoutes =
  (deps: PrivacyDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(erasureRoutes(deps))
    await app.register(exportRoute(deps))
    await app.register(optOutRoutes(deps))
    await app.register(linkRemovalRoutes(deps))
  }
