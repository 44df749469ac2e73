import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError, malformed } from '../../api/http/errors.ts'
import { ackSeconds, refusedBeacons } from '../../platform/metrics.ts'
import { acceptBeacon, type BeaconDeps } from './acceptBeacon.ts'
import { type Envelope, parseBeacon } from './beacon.ts'
import { describeBeacon, describeGif } from './beaconSchemas.ts'
import { createNoteRefusal, pixelIdIn } from './rejectedEvents.ts'

/** The smallest GIF: one transparent pixel. */
const transparentGif = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64')

/** parseBeacon checks the bytes, so that an invalid event does not affect the others. */
const skipValidation = () => (value: unknown) => ({ value })

/**
 * Passes on a beacon that the fast path (fastPath.ts) has read and refused: restores its body and error, so that
 * the error handler answers it. The route itself handles the beacons that the fast path does not take.
 */
function restoreRefused(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const { refused } = request.raw
  if (refused) request.body = refused.body
  done(refused?.error as Error | undefined)
}

/** POST /e and GET /e.gif: receive the beacons of pages. */
export function beaconRoutes(app: FastifyInstance, deps: BeaconDeps): void {
  const accept = (request: FastifyRequest, envelope: Envelope) =>
    acceptBeacon(
      deps,
      request,
      envelope,
      request.headers['x-api-key'] === undefined
        ? undefined
        : (pixel) => deps.verifiesBackend(request, pixel),
    )
  // Created before the first error, because an alert on a rate misses a counter's first value.
  for (const error of ['busy', 'internal_error']) refusedBeacons.inc({ error }, 0)
  const noteRefusalOf = createNoteRefusal(deps.pixels, deps.recordRefusal)
  const noteRefusal = (request: FastifyRequest, _reply: FastifyReply, error: Error) =>
    noteRefusalOf(error, pixelIdIn(request))

  // With text/plain, browsers send no preflight; bodies are parsed once, in parseBeacon.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['text/plain', 'application/json'],
    { parseAs: 'buffer', bodyLimit: beaconBytesMax },
    (_request, body, done) => done(null, body),
  )

  app.post(
    '/e',
    {
      onResponse: (_request, reply, done) => {
        ackSeconds.observe(reply.elapsedTime / 1000)
        done()
      },
      onError: noteRefusal,
      schema: describeBeacon,
      validatorCompiler: skipValidation,
      onRequest: restoreRefused,
    },
    async (request, reply) => {
      if (!(request.body instanceof Buffer))
        throw malformed('Send a body as text/plain or application/json.')
      const { receipt, visitor } = await accept(request, parseBeacon(request.body))
      if (visitor.setCookie) reply.header('set-cookie', visitor.setCookie)
      reply.header('content-type', 'application/json; charset=utf-8')
      return reply.send(JSON.stringify(receipt))
    },
  )

  app.get<{ Querystring: Static<typeof describeGif.querystring> }>(
    '/e.gif',
    {
      onError: noteRefusal,
      schema: describeGif,
    },
    async (request, reply) => {
      const { pixel_id, url, title, referrer } = request.query
      const sentAt = new Date()
      const { receipt, visitor } = await accept(request, {
        pixel_id: isUuid(pixel_id) ? pixel_id.toLowerCase() : '',
        sentAtMillis: sentAt.getTime(),
        events: [
          {
            event_id: randomUUID(),
            event_type: 'page_view',
            event_data: {
              url: url ?? request.headers.referer,
              title: title ?? '',
              referrer: referrer || null,
              screen: { height: 0, width: 0 },
              viewport: { height: 0, width: 0 },
              timestamp: sentAt.toISOString(),
            },
          },
        ],
      })
      const [fault] = receipt.rejected
      if (fault) throw new ApiError(400, 'malformed', `${fault.path} ${fault.message}`)
      if (visitor.setCookie) reply.header('set-cookie', visitor.setCookie)
      return reply.header('cache-control', 'no-store').type('image/gif').send(transparentGif)
    },
  )
}
