import type { FastifyPluginAsync } from 'fastify'
import { ApiError } from '../http/errors.ts'

/** GET /healthz: the process lives. GET /readyz: send it requests. */
export const healthRoutes =
  (notReady: () => string | null): FastifyPluginAsync =>
  async (app) => {
    const schema = (summary: string) => ({
      schema: { tags: ['Health'], summary },
      config: { access: { to: 'anyone' as const } },
    })

    app.get('/healthz', schema('The process lives'), async () => ({ status: 'ok' }))

    app.get('/readyz', schema('The process takes requests'), async () => {
      const reason = notReady()
      if (reason !== null) throw new ApiError(503, 'not_ready', reason)
      return { status: 'ok' }
    })
  }
