import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { streamOf } from '../../../../collector/api/http/streaming.ts'

const megabyte = 1024 * 1024
const pieces = 40

/** Pieces that use one buffer: each is valid until the next one is requested. */
async function* reused() {
  const piece = Buffer.alloc(megabyte)
  for (let number = 0; number < pieces; number++) yield piece.fill(number)
}

test('a body is sent piece by piece, so that its source can use memory again while the client is slow', async () => {
  const app = Fastify()
  app.get('/', async (_request, reply) =>
    reply.type('application/octet-stream').send(streamOf(reused())),
  )
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const [answer] = (await once(get(url), 'response')) as [IncomingMessage]
  let at = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (const place of [0, chunk.length - 1])
      expect(chunk[place]).toBe(Math.floor((at + place) / megabyte))
    at += chunk.length
    if (at % 7 === 0) await delay(1)
  }
  expect(at).toBe(pieces * megabyte)
  await app.close()
})

test('the error of a piece ends the connection', async () => {
  const app = Fastify()
  app.get('/', async (_request, reply) =>
    reply.type('text/plain').send(
      streamOf(
        (async function* () {
          yield 'begun'
          throw new Error('broken')
        })(),
      ),
    ),
  )
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow()
  await app.close()
})
