import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import { type BeaconReceipt, beaconBytesMax } from '../../../schemas/beacon.ts'
import { ackSeconds, httpRequests, httpSeconds } from '../../platform/metrics.ts'
import { parseBeacon } from './beacon.ts'
import type { BeaconRequest } from './beaconRequest.ts'
import { openTo } from './cors.ts'
import { acceptBeacon, type IngestDeps } from './intake.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** A beacon that the fast path refused, for the route to answer. */
    refused?: { body: Buffer; error: unknown }
  }
}

const labels = { method: 'POST', route: '/e', status: '200' }
const requests = httpRequests.labels(labels)
const seconds = httpSeconds.labels(labels)

/**
 * Takes plain beacons in front of the router, whose hooks, request and reply objects cost more than all that is done
 * with a beacon. What is not plain (in chunks, packed, of another type, too large, with a key) goes on to the route, and
 * so does every beacon that is refused: one place answers errors. Call it once all routes are registered.
 */
export function takeBeaconsInFront(app: FastifyInstance, deps: IngestDeps, trustedProxies: string[]): void {
  const requestOf = createRequestOf(trustedProxies, app.log)
  const [route] = app.server.listeners('request') as [RequestListener]
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })

  async function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const arrivedAt = performance.now()
    const { receipt, visitor } = await acceptBeacon(deps, requestOf(request), parseBeacon(body))
    const text = JSON.stringify(receipt)
    const headers = ['Content-Type', 'application/json; charset=utf-8', ...openTo(request.headers.origin)]
    if (visitor.setCookie) headers.push('Set-Cookie', visitor.setCookie)
    headers.push('Content-Length', String(Buffer.byteLength(text)))
    response.writeHead(200, headers).end(text, isAscii(receipt) ? 'latin1' : 'utf8')
    const took = (performance.now() - arrivedAt) / 1000
    requests.inc()
    seconds.observe(took)
    ackSeconds.observe(took)
  }

  app.server.removeListener('request', route)
  app.server.on('request', (request, response) => {
    // Once it closes the router says so.
    if (isClosing || !isPlainBeacon(request)) {
      route(request, response)
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      answer(request, response, body).catch((error: unknown) => {
        request.refused = { body, error }
        route(request, response)
      })
    })
  })
}

/** What is rejected is told in the sender's words; without that all is ours, and goes out as it is in memory. */
const isAscii = ({ rejected, hem_rejected }: BeaconReceipt): boolean => rejected.length === 0 && !hem_rejected

const plainType = /^(?:text\/plain|application\/json)(?:;|$)/

function isPlainBeacon({ url, method, headers }: IncomingMessage): boolean {
  return (
    url === '/e' &&
    method === 'POST' &&
    Number(headers['content-length']) <= beaconBytesMax &&
    headers['content-encoding'] === undefined &&
    headers['x-api-key'] === undefined &&
    plainType.test(headers['content-type'] ?? '')
  )
}

/** Who sends, by the connection, or by the headers of the proxies that are trusted, as Fastify has it. */
function createRequestOf(
  trustedProxies: string[],
  log: BeaconRequest['log'],
): (request: IncomingMessage) => BeaconRequest {
  if (trustedProxies.length === 0)
    return ({ headers, socket }) => ({ headers, ip: socket.remoteAddress!, protocol: 'http', log })
  const isTrusted = proxyAddr.compile(trustedProxies)
  return (request) => {
    const { headers, socket } = request
    const told = isTrusted(socket.remoteAddress!, 0) && headers['x-forwarded-proto']
    const protocol = told ? String(told).split(',').at(-1)!.trim() : 'http'
    return { headers, ip: proxyAddr(request, isTrusted), protocol, log }
  }
}
