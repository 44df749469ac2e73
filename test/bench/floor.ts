/**
 * The floor for comparison with a durable acknowledgement. It is a Fastify route that parses and validates
 * the same body with the same code, stores nothing, and answers as many bytes. Prints its port when it
 * listens.
 */
import Fastify from 'fastify'
import { parseBeacon } from '../../collector/ingest/beacon/beacon.ts'
import { validateEvent } from '../../collector/ingest/normalize/validateEvent.ts'
import { beaconBytesMax } from '../../schemas/beacon.ts'

const app = Fastify({ logger: false })
app.removeAllContentTypeParsers()
app.addContentTypeParser(
  ['text/plain', 'application/json'],
  { parseAs: 'buffer', bodyLimit: beaconBytesMax },
  (_request, body, done) => done(null, body),
)

app.post('/e', async (request, reply) => {
  const { events, cookie_id } = parseBeacon(request.body as Buffer)
  const accepted = events.filter((event) => !('path' in validateEvent(event))).length
  reply.header('content-type', 'application/json; charset=utf-8')
  return reply.send(JSON.stringify({ cookie_id, accepted, rejected: [] }))
})

await app.listen({ port: 0, host: '127.0.0.1' })
console.log((app.server.address() as { port: number }).port)
