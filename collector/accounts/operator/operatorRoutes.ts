import type { FastifyPluginAsync } from 'fastify'
import { deadLetterRoutes } from './deadLetterRoutes.ts'
import type { OperatorDeps } from './operatorDeps.ts'
import { statusRoutes } from './statusRoutes.ts'
import { tenantRoutes } from './tenantRoutes.ts'

/** /dashboard/operator/*: status of the service, for operators. */
export const operatorRoutes =
  (deps: OperatorDeps): FastifyPluginAsync =>
  async (app) => {
    await app.register(statusRoutes(deps))
    await app.register(tenantRoutes(deps))
    await app.register(deadLetterRoutes(deps))
  }
