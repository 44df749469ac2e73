import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import type { BeaconReceipt } from '../../../schemas/beacon.ts'
import { ackSeconds, httpRequests, httpSeconds } from '../../platform/metrics.ts'
import { acceptBeacon, type BeaconDeps } from '../beacon/acceptBeacon.ts'
import { parseBeacon } from '../beacon/beacon.ts'
import { type BeaconRequest, isPlainBeacon } from '../beacon/beaconRequest.ts'
import { openTo } from '../beacon/cors.ts'
import { readBetweenRequests } from './betweenRequests.ts'
import { answerText, type Refusal, type WireAnswer } from './wireBeacon.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** A beacon that was refused before the router; the route answers it. */
    refused?: Refusal
  }
}

const labels = { method: 'POST', route: '/e', status: '200' }
const requests = httpRequests.labels(labels)
const seconds = httpSeconds.labels(labels)

/** The connection and headers of a sender, read by Node's parser or by betweenRequests.ts. */
type SenderConnection = Pick<IncomingMessage, 'headers' | 'socket'>

interface Answer extends Pick<WireAnswer, 'encoding'> {
  /** Alternating names and values. */
  headers: string[]
  body: string
}

/**
 * Answers plain beacons before the router, whose hooks, request and reply objects cost more than the beacon itself. A
 * beacon takes one of three ways, and acceptBeacon handles it in all of them:
 *
 *   bytes ▶ betweenRequests.ts, if `fastReader` is set: a whole beacon of the strictest shape, not the first of its connection ▶ answerTo
 *              └ all others ▶ Node's parser ▶ 'request' ▶ isPlainBeacon ▶ answerTo
 *                                                └ in chunks, compressed, with a key, … ▶ the route POST /e
 *
 * A beacon that is refused goes on to the route with its error (`request.refused`), so that one place answers errors.
 * Call this once all routes are registered.
 */
export function takeBeaconsInFront(
  app: FastifyInstance,
  deps: BeaconDeps,
  { trustedProxies, fastReader }: { trustedProxies: string[]; fastReader: boolean },
): void {
  const { server } = app
  const requestOf = createRequestOf(trustedProxies, app.log)
  const [route] = server.listeners('request') as [RequestListener]
  let isClosing = false

  async function answerTo(sender: SenderConnection, bytes: Buffer): Promise<Answer> {
    const arrivedAt = performance.now()
    const { receipt, visitor } = await acceptBeacon(deps, requestOf(sender), parseBeacon(bytes))
    const body = JSON.stringify(receipt)
    const headers = [
      'Content-Type',
      'application/json; charset=utf-8',
      'X-Request-Id',
      randomUUID(),
      ...openTo(sender.headers.origin),
    ]
    if (visitor.setCookie) headers.push('Set-Cookie', visitor.setCookie)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
    const took = (performance.now() - arrivedAt) / 1000
    requests.inc()
    seconds.observe(took)
    ackSeconds.observe(took)
    return { headers, body, encoding: isAscii(receipt) ? 'latin1' : 'utf8' }
  }

  const wire = fastReader
    ? readBetweenRequests(server, async (beacon) => {
        const { headers, body, encoding } = await answerTo(beacon, beacon.body)
        return { text: answerText(headers, body, server.keepAliveTimeout), encoding }
      })
    : null
  app.addHook('preClose', async () => {
    isClosing = true
    await wire?.close()
  })

  server.removeListener('request', route)
  server.on('request', (request, response) => {
    const refused = wire?.refusalOf(request)
    if (refused) request.refused = refused
    // While the server closes, the router answers: it adds the header that ends the connection.
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

/** A receipt without rejected events contains no text of the sender, so it is ASCII. */
const isAscii = ({ rejected, hem_rejected }: BeaconReceipt): boolean =>
  rejected.length === 0 && !hem_rejected

/** Reads the address and protocol of a sender as Fastify does: from the connection, or from headers of trusted proxies. */
function createRequestOf(
  trustedProxies: string[],
  log: BeaconRequest['log'],
): (sender: SenderConnection) => BeaconRequest {
  if (trustedProxies.length === 0)
    return ({ headers, socket }) => ({ headers, ip: socket.remoteAddress!, protocol: 'http', log })
  const isTrusted = proxyAddr.compile(trustedProxies)
  return (sender) => {
    const { headers, socket } = sender
    const told = isTrusted(socket.remoteAddress!, 0) && headers['x-forwarded-proto']
    const protocol = told ? String(told).split(',').at(-1)!.trim() : 'http'
    return { headers, ip: proxyAddr(sender as IncomingMessage, isTrusted), protocol, log }
  }
}
