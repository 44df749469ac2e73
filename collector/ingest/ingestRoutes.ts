import type { FastifyPluginAsync } from 'fastify'
import { forAnyone } from '../api/access/guard.ts'
import type { BeaconDeps } from './beacon/acceptBeacon.ts'
import { beaconRoutes } from './beacon/beaconRoutes.ts'
import { allowAnyOrigin } from './beacon/cors.ts'
import { type ScriptDeps, scriptRoutes } from './script/scriptRoutes.ts'
import { segmentRoutes } from './segment/segmentRoutes.ts'

export type IngestDeps = BeaconDeps & ScriptDeps

/** The routes that pages use: GET /p/… loads the pixel, POST /e, GET /e.gif and Segment's calls take events. */
export const ingestRoutes =
  (deps: IngestDeps, collectorUrl: string): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRoute', forAnyone)
    allowAnyOrigin(app)
    beaconRoutes(app, deps)
    // A scope of their own: their bodies are larger, and may be packed.
    await app.register(async (scope) => segmentRoutes(scope, deps))
    await scriptRoutes(app, deps, collectorUrl)
  }
