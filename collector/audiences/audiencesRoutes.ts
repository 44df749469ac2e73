import type { FastifyPluginAsync } from 'fastify'
import { rejectUnstorableText } from '../api/http/rejectUnstorableText.ts'
import { audienceRoutes } from './audienceRoutes.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { catalogRoutes } from './catalogRoutes.ts'
import { changesRoute } from './changesRoute.ts'
import { downloadRoute } from './downloadRoute.ts'
import { explainRoute } from './explainRoute.ts'
import { filesRoute } from './files/filesRoute.ts'
import { linkageUsageRoute } from './linkageUsageRoute.ts'
import { listBuildsRoute } from './listBuildsRoute.ts'
import { newAudienceRoutes } from './newAudienceRoutes.ts'
import { recordsRoute } from './recordsRoute.ts'
import { sampleRoute } from './sampleRoute.ts'
import { statusRoute } from './statusRoute.ts'

/** /api/v1/audiences: builds the members of definitions, and returns them in pages or files. */
export const audiencesRoutes =
  (deps: AudiencesDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    await app.register(audienceRoutes(deps))
    await app.register(newAudienceRoutes(deps))
    await app.register(sampleRoute(deps))
    await app.register(statusRoute(deps))
    await app.register(recordsRoute(deps))
    await app.register(listBuildsRoute(deps))
    await app.register(changesRoute(deps))
    await app.register(explainRoute(deps))
    await app.register(linkageUsageRoute(deps))
    await app.register(downloadRoute(deps))
    await app.register(filesRoute(deps))
    await app.register(catalogRoutes)
  }
