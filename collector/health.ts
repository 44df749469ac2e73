import type { FastifyPluginAsync } from 'fastify'
import { ApiError } from './errors.ts'

/** GET /healthz: the process lives. GET /readyz: send it requests. GET /metrics: its numbers, for Prometheus. */
export const healthRoutes =
  (notReady: () => string | null, metrics: () => Promise<string>): FastifyPluginAsync =>
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

    app.get('/metrics', schema('Prometheus metrics of this machine'), async (_request, reply) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()),
    )
  }
