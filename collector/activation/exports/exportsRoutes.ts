import type { FastifyPluginAsync } from 'fastify'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import { exportRoutes } from './exportRoutes.ts'
import type { ExportsDeps } from './exportsDeps.ts'
import { runActionRoutes } from './runActionRoutes.ts'
import { runRoutes } from './runRoutes.ts'

/** /api/v1/exports: audiences and lists, sent to integrations. */
export const exportsRoutes =
  (deps: ExportsDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    await app.register(exportRoutes(deps))
    await app.register(runRoutes(deps))
    await app.register(runActionRoutes(deps))
  }
