import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import { forAnyone } from '../../access/guard.ts'
import { ApiError, malformed } from '../../http/errors.ts'
import { ackSeconds, refusedBeacons } from '../../platform/metrics.ts'
import { scriptRoutes } from '../script/routes.ts'
import { parseBeacon } from './beacon.ts'
import { allowAnyOrigin } from './cors.ts'
import { acceptBeacon, type IngestDeps } from './intake.ts'
import { createRefusals } from './refusals.ts'

/** The smallest GIF: one transparent pixel. */
const transparentGif = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64')

/** POST /e, GET /e.gif and GET /p/…: what pages load and send to. */
export const ingestRoutes =
  (deps: IngestDeps, publicUrl: string): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRoute', forAnyone)
    allowAnyOrigin(app)

    const recordRefusal = createRefusals(deps)
    const noteRefusal = async (request: FastifyRequest, _reply: FastifyReply, error: Error) => {
      refusedBeacons.inc({ error: error instanceof ApiError ? error.code : 'internal_error' })
      await recordRefusal(request, error)
    }

    // text/plain spares browsers the preflight; both are read as bytes and parsed once, in parseBeacon.
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
        schema: {
          tags: ['Ingest'],
          operationId: 'sendEvents',
          summary: 'Send a batch of events',
          description: beaconDescription,
        },
      },
      async (request, reply) => {
        if (!(request.body instanceof Buffer))
          throw malformed('Send a body as text/plain or application/json.')
        const { receipt, visitor } = await acceptBeacon(deps, request, parseBeacon(request.body))
        if (visitor.setCookie) reply.header('set-cookie', visitor.setCookie)
        reply.header('content-type', 'application/json; charset=utf-8')
        return reply.send(JSON.stringify(receipt))
      },
    )

    app.get<{ Querystring: Record<string, string | undefined> }>(
      '/e.gif',
      {
        onError: noteRefusal,
        schema: {
          tags: ['Ingest'],
          operationId: 'sendPageView',
          summary: 'Send the page view of a browser without scripts',
          description: gifDescription,
        },
      },
      async (request, reply) => {
        const { pixel_id, url, title, referrer } = request.query
        const sentAt = new Date()
        const { receipt, visitor } = await acceptBeacon(deps, request, {
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

    await scriptRoutes(app, deps, publicUrl)
  }

const beaconDescription = `Body, as text/plain or application/json, at most 64 KiB:
\`{ "pixel_id": uuid, "cookie_id": uuid?, "hem": 64 hex?, "hem_signature": 64 hex?, "consent": boolean?, "sent_at": ISO 8601,
"events": [{ "event_id": uuid, "event_type": "…", "event_data": {…} }] }\`.
Answered when the events are on disk: \`{ "cookie_id", "accepted", "rejected": [{ "index", "event_id", "path",
"message" }] }\`. Each event is accepted or rejected with a reason: the two add up to what was sent. A bad event never
costs its neighbours theirs. The same event_id sent again is stored once.

\`hem_signature\` is the HMAC-SHA256 of the hem with the pixel's identify secret, in hex. A wrong one, a missing one where the
pixel's setting \`require_signed_identify\` asks for it, and too many unsigned ones from one network address are refused:
\`hem_rejected: { "path", "message" }\` says so, and the events count all the same.

An event may be 32 levels deep and have 5,000 members in all, none of them \`__proto__\`. Half surrogate pairs and
U+0000 are stored as U+FFFD; integers beyond 2^53 keep their digits where any JSON may stand. \`event_data.referrer\` of
any event is its \`referrer_url\`.`

const gifDescription = 'Query: pixel_id, and url (else the Referer header), title, referrer.'
