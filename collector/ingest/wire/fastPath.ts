import type { IncomingMessage, RequestListener } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import type { BeaconReceipt } from '../../../schemas/beacon.ts'
import { ackSeconds, httpRequests, httpSeconds } from '../../platform/metrics.ts'
import { acceptBeacon, type IngestDeps } from '../beacon/acceptBeacon.ts'
import { parseBeacon } from '../beacon/beacon.ts'
import type { BeaconRequest } from '../beacon/beaconRequest.ts'
import { openTo } from '../beacon/cors.ts'
import { isPlainBeacon } from '../beacon/plainBeacon.ts'
import { answerText } from './answer.ts'
import { readBetweenRequests } from './betweenRequests.ts'
import type { Refusal, WireAnswer } from './wireBeacon.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** A beacon that was refused in front of the router, for the route to answer. */
    refused?: Refusal
  }
}

const labels = { method: 'POST', route: '/e', status: '200' }
const requests = httpRequests.labels(labels)
const seconds = httpSeconds.labels(labels)

/** Who sends: what beacons are taken from, whoever has read them. */
type Sending = Pick<IncomingMessage, 'headers' | 'socket'>

interface Answer extends Pick<WireAnswer, 'encoding'> {
  /** Names and values in turn. */
  headers: string[]
  body: string
}

/**
 * Takes plain beacons in front of the router, whose hooks, request and reply objects cost more than all that is done
 * with a beacon; and those of the strictest shape in front of Node's parser, where it has read a connection's first
 * request (betweenRequests.ts). What is not plain (in chunks, packed, of another type, too large, with a key) goes on
 * to the route, and so does every beacon that is refused: one place answers errors. Call it once all routes are registered.
 */
export function takeBeaconsInFront(
  app: FastifyInstance,
  deps: IngestDeps,
  trustedProxies: string[],
): void {
  const { server } = app
  const requestOf = createRequestOf(trustedProxies, app.log)
  const [route] = server.listeners('request') as [RequestListener]
  let isClosing = false

  async function answerTo(sending: Sending, bytes: Buffer): Promise<Answer> {
    const arrivedAt = performance.now()
    const { receipt, visitor } = await acceptBeacon(deps, requestOf(sending), parseBeacon(bytes))
    const body = JSON.stringify(receipt)
    const headers = [
      'Content-Type',
      'application/json; charset=utf-8',
      ...openTo(sending.headers.origin),
    ]
    if (visitor.setCookie) headers.push('Set-Cookie', visitor.setCookie)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
    const took = (performance.now() - arrivedAt) / 1000
    requests.inc()
    seconds.observe(took)
    ackSeconds.observe(took)
    return { headers, body, encoding: isAscii(receipt) ? 'latin1' : 'utf8' }
  }

  const wire = readBetweenRequests(server, async (beacon) => {
    const { headers, body, encoding } = await answerTo(beacon, beacon.body)
    return { text: answerText(headers, body, server.keepAliveTimeout), encoding }
  })
  app.addHook('preClose', async () => {
    isClosing = true
    await wire.close()
  })

  server.removeListener('request', route)
  server.on('request', (request, response) => {
    const refused = wire.refusalOf(request)
    if (refused) request.refused = refused
    // Once it closes the router does, which says that the connection ends.
    if (refused || isClosing || !isPlainBeacon(request)) {
      route(request, response)
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      answerTo(request, bytes).then(
        ({ headers, body, encoding }) => response.writeHead(200, headers).end(body, encoding),
        (error: unknown) => {
          request.refused = { body: bytes, error }
          route(request, response)
        },
      )
    })
  })
}

/** What is rejected is told in the sender's words; without that all is ours, and goes out as it is in memory. */
const isAscii = ({ rejected, hem_rejected }: BeaconReceipt): boolean =>
  rejected.length === 0 && !hem_rejected

/** Who sends, by the connection, or by the headers of the proxies that are trusted, as Fastify has it. */
function createRequestOf(
  trustedProxies: string[],
  log: BeaconRequest['log'],
): (sending: Sending) => BeaconRequest {
  if (trustedProxies.length === 0)
    return ({ headers, socket }) => ({ headers, ip: socket.remoteAddress!, protocol: 'http', log })
  const isTrusted = proxyAddr.compile(trustedProxies)
  return (sending) => {
    const { headers, socket } = sending
    const told = isTrusted(socket.remoteAddress!, 0) && headers['x-forwarded-proto']
    const protocol = told ? String(told).split(',').at(-1)!.trim() : 'http'
    return { headers, ip: proxyAddr(sending as IncomingMessage, isTrusted), protocol, log }
  }
}
