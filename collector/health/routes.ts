import type { FastifyPluginAsync } from 'fastify'
import { ApiError } from '../http/errors.ts'

/** GET /healthz: the process lives. GET /readyz: send it requests. */
export const healthRoutes =
  (notReady: () => string | null): FastifyPluginAsync =>
  async (app) => {
    const schema = (operationId: string, summary: string) => ({
      schema: { tags: ['Health'], operationId, summary },
      config: { access: { to: 'anyone' as const } },
    })

    app.get('/healthz', schema('checkHealth', 'Check that the process is alive'), async () => ({
      status: 'ok',
    }))

    app.get('/readyz', schema('checkReadiness', 'Check that the process accepts requests'), async () => {
      const reason = notReady()
      if (reason !== null) throw new ApiError(503, 'not_ready', reason)
      return { status: 'ok' }
    })
  }
