import { timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { sha256 } from '../access/authenticate.ts'
import { ApiError, forbidden } from '../http/errors.ts'

const bearer = 'Bearer realm="Footfall metrics"'

/**
 * GET /metrics, for Prometheus. With FOOTFALL_METRICS_TOKEN it requires this token. With
 * FOOTFALL_METRICS_PORT it is only on that port (worker.ts). With neither it answers only direct requests of
 * this machine, because requests through a local proxy come from outside.
 */
export const metricsRoutes =
  (
    { metricsToken, metricsPort }: Pick<Config, 'metricsToken' | 'metricsPort'>,
    metrics: () => Promise<string>,
  ): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/metrics',
      {
        schema: { tags: ['Health'], summary: 'Get metrics', hide: true },
        config: { access: { to: 'anyone' } },
      },
      async (request, reply) => {
        if (metricsToken !== null) requireToken(request, metricsToken)
        else if (metricsPort === null) requireThisMachine(request)
        return reply
          .headers({
            'content-type': 'text/plain; version=0.0.4; charset=utf-8',
            'cache-control': 'no-store',
          })
          .send(await metrics())
      },
    )
  }

function requireToken(request: FastifyRequest, token: string): void {
  const { authorization = '' } = request.headers
  if (!timingSafeEqual(sha256(authorization), sha256(`Bearer ${token}`))) {
    throw new ApiError(
      401,
      'unauthenticated',
      'Send the metrics token as "Authorization: Bearer …".',
      {
        headers: { 'www-authenticate': bearer },
      },
    )
  }
}

/** Headers of proxies: a request with any of them is not a direct one. */
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']
const loopback = /^(::ffff:)?127\.|^::1$/

function requireThisMachine({ raw, headers }: FastifyRequest): void {
  const isHere = loopback.test(raw.socket.remoteAddress ?? '')
  if (!isHere || forwardingHeaders.some((name) => name in headers)) {
    throw forbidden(
      'Metrics are available only on this machine. To read them from another, set FOOTFALL_METRICS_TOKEN or FOOTFALL_METRICS_PORT.',
    )
  }
}
