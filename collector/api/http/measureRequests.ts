import type { FastifyInstance } from 'fastify'
import { chargedRecords, httpRequests, httpSeconds } from '../../platform/metrics.ts'
import { onEachAnswer } from './eachAnswer.ts'

const unknownRoute = 'unknown'
/** Statuses that alerts count exist from the first response: a rate misses a counter's first value. */
const alertedStatuses = ['500', '503']

interface Measures {
  requests: { inc(): void }
  seconds: { observe(seconds: number): void }
  chargedRecords(records: number): void
}

/**
 * Counts every response by method, route pattern and status. Measures the time to the last byte, and the
 * charged records without refunds.
 */
export function measureRequests(app: FastifyInstance): void {
  // Caches the labels, because a lookup costs more than counting.
  const measuresByRoute = new Map<string, Measures>()
  const begun = new Set<string>()
  const begin = (method: string, route: string) => {
    if (begun.has(`${method} ${route}`)) return
    begun.add(`${method} ${route}`)
    for (const status of alertedStatuses) httpRequests.inc({ method, route, status }, 0)
  }
  const measuresOf = (method: string, route: string, status: number): Measures => {
    const name = `${method} ${route} ${status}`
    let measures = measuresByRoute.get(name)
    if (!measures) {
      begin(method, route)
      const labels = { method, route, status: String(status) }
      measures = {
        requests: httpRequests.labels(labels),
        seconds: httpSeconds.labels(labels),
        chargedRecords: (records) => chargedRecords.inc(labels, records),
      }
      measuresByRoute.set(name, measures)
    }
    return measures
  }
  onEachAnswer(app, (request, reply) => {
    const route = request.routeOptions.url ?? unknownRoute
    const measures = measuresOf(request.method, route, reply.statusCode)
    measures.requests.inc()
    measures.seconds.observe(reply.elapsedTime / 1000)
    const charged = Number(reply.getHeader('x-footfall-charged') ?? 0)
    if (charged > 0) measures.chargedRecords(charged)
  })
}
