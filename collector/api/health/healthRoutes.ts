import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { answerOf, ErrorBody } from '../http/commonSchemas.ts'
import { ApiError } from '../http/errors.ts'

const Healthy = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' })

/** GET /healthz: whether the process is running. GET /readyz: whether it should receive requests. */
export const healthRoutes =
  (notReady: () => string | null): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: { to: 'anyone' } } as const
    const tags = ['Health']
    let logged: string | null = null

    app.get(
      '/healthz',
      {
        config,
        schema: {
          tags,
          operationId: 'checkHealth',
          summary: 'Check liveness',
          description: 'Open to all callers. Returns 200 while the process runs. Queries no store.',
          response: { 200: Healthy },
        },
      },
      async () => ({ status: 'ok' as const }),
    )

    app.get(
      '/readyz',
      {
        config,
        schema: {
          tags,
          operationId: 'checkReadiness',
          summary: 'Check readiness',
          description:
            'Open to all callers. Returns 200 if a load balancer should send requests to this process.',
          response: {
            200: Healthy,
            503: answerOf('`not_ready`: `message` contains the reason.', ErrorBody),
          },
        },
      },
      async () => {
        const reason = notReady()
        if (reason !== null && reason !== logged) app.log.warn({ reason }, 'not ready for requests')
        logged = reason
        if (reason !== null) throw new ApiError(503, 'not_ready', reason)
        return { status: 'ok' as const }
      },
    )
  }
