import type { FastifyPluginAsync } from 'fastify'
import { ApiError } from './errors.ts'

/** Why the process should get no requests now; null when it should. */
export type Readiness = () => Promise<string | null>

/** GET /healthz: the process lives. GET /readyz: send it requests. */
export const healthRoutes =
  (ready: Readiness): FastifyPluginAsync =>
  async (app) => {
    app.get('/healthz', { schema: { tags: ['Health'], summary: 'The process lives' } }, async () => ({
      status: 'ok',
    }))
    app.get('/readyz', { schema: { tags: ['Health'], summary: 'The process takes requests' } }, async () => {
      const reason = await ready()
      if (reason !== null) throw new ApiError(503, 'not_ready', reason)
      return { status: 'ok' }
    })
  }
