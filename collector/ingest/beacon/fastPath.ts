import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { namesSeveralHosts } from '../../api/http/hostHeader.ts'
import { ackSeconds, httpRequests, httpSeconds } from '../../platform/metrics.ts'
import { acceptBeacon, type BeaconDeps } from './acceptBeacon.ts'
import { type BeaconRequest, parseBeacon } from './beacon.ts'
import { openTo } from './cors.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The body and the error of a beacon that was refused before the router; the route answers it. */
    refused?: { body: Buffer; error: unknown }
  }
}

const labels = { method: 'POST', route: '/e', status: '200' }
const requests = httpRequests.labels(labels)
const seconds = httpSeconds.labels(labels)

interface FastPathOptions {
  trustedProxies: string[]
  log: BeaconRequest['log']
  /** Fastify's router. */
  route: RequestListener
  /** False once the server closes. The router then answers: it adds the header that ends the connection. */
  isOpen(): boolean
}

/**
 * Returns a listener that answers plain beacons before the router, whose hooks, request and reply objects cost more than
 * the beacon itself. The router answers all other requests, such as beacons in chunks, compressed or with a key. It also
 * answers refused beacons, with their error (`request.refused`), so that one place answers errors.
 */
export function beaconsBeforeRouter(
  deps: BeaconDeps,
  { trustedProxies, log, route, isOpen }: FastPathOptions,
): RequestListener {
  const requestOf = createRequestOf(trustedProxies, log)

  async function answerTo(request: IncomingMessage, bytes: Buffer) {
    const arrivedAt = performance.now()
    const { receipt, visitor } = await acceptBeacon(deps, requestOf(request), parseBeacon(bytes))
    const body = JSON.stringify(receipt)
    /** Alternating names and values. */
    const headers = [
      'Content-Type',
      'application/json; charset=utf-8',
      'X-Request-Id',
      randomUUID(),
      ...openTo(request.headers.origin),
    ]
    if (visitor.setCookie) headers.push('Set-Cookie', visitor.setCookie)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
    const elapsedSeconds = (performance.now() - arrivedAt) / 1000
    requests.inc()
    seconds.observe(elapsedSeconds)
    ackSeconds.observe(elapsedSeconds)
    return { headers, body }
  }

  return (request, response) => {
    if (!isOpen() || !isPlainBeacon(request)) {
      route(request, response)
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      answerTo(request, bytes).then(
        ({ headers, body }) => response.writeHead(200, headers).end(body),
        (error: unknown) => {
          request.refused = { body: bytes, error }
          route(request, response)
        },
      )
    })
  }
}

/** Reads the address and protocol of a sender as Fastify does: from the connection, or from headers of trusted proxies. */
function createRequestOf(
  trustedProxies: string[],
  log: BeaconRequest['log'],
): (request: IncomingMessage) => BeaconRequest {
  if (trustedProxies.length === 0)
    return ({ headers, socket }) => ({ headers, ip: socket.remoteAddress!, protocol: 'http', log })
  const isTrusted = proxyAddr.compile(trustedProxies)
  return (request) => {
    const { headers, socket } = request
    const forwarded = isTrusted(socket.remoteAddress!, 0) && headers['x-forwarded-proto']
    const protocol = forwarded ? String(forwarded).split(',').at(-1)!.trim() : 'http'
    return { headers, ip: proxyAddr(request, isTrusted), protocol, log }
  }
}

const plainType = /^(?:text\/plain|application\/json)(?:;|$)/

/** Not chunked, not compressed, without a key, with one host. */
const isPlainBeacon = ({ url, method, headers, rawHeaders }: IncomingMessage): boolean =>
  url === '/e' &&
  method === 'POST' &&
  Number(headers['content-length']) <= beaconBytesMax &&
  headers['content-encoding'] === undefined &&
  headers['x-api-key'] === undefined &&
  plainType.test(headers['content-type'] ?? '') &&
  !namesSeveralHosts(rawHeaders)
