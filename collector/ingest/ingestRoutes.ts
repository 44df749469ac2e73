import type { FastifyPluginAsync } from 'fastify'
import { forAnyone } from '../api/access/guard.ts'
import type { BeaconDeps } from './beacon/acceptBeacon.ts'
import { beaconRoutes } from './beacon/beaconRoutes.ts'
import { allowAnyOrigin } from './beacon/cors.ts'
import { type ScriptDeps, scriptRoutes } from './script/scriptRoutes.ts'
import { segmentRoutes } from './segment/segmentRoutes.ts'

export type IngestDeps = BeaconDeps & ScriptDeps

/** GET /p/… returns the pixel; POST /e, GET /e.gif and Segment's calls receive events. */
export const ingestRoutes =
  (deps: IngestDeps, collectorUrl: string): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRoute', forAnyone)
    allowAnyOrigin(app)
    beaconRoutes(app, deps)
    // Registered in a separate scope, because their bodies are larger and may be compressed.
    await app.register(async (scope) => segmentRoutes(scope, deps))
    await scriptRoutes(app, deps, collectorUrl)
  }
