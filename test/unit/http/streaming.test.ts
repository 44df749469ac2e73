import { once } from 'node:events'
import { request } from 'node:http'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { untilClosed } from '../../../collector/api/http/streaming.ts'

test('the signal of a caller who has already left is aborted', async () => {
  const app = Fastify()
  const seen = Promise.withResolvers<AbortSignal>()
  const arrived = Promise.withResolvers<void>()
  app.get('/', async (_request, reply) => {
    arrived.resolve()
    await once(reply.raw, 'close')
    seen.resolve(untilClosed(reply))
    return ''
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const asked = request(url)
  asked.once('error', () => {})
  asked.end()
  await arrived.promise
  asked.destroy()
  expect((await seen.promise).aborted).toBe(true)
  await app.close()
})

test('the signal of a caller who waits is aborted when the answer is complete', async () => {
  const app = Fastify()
  const seen = Promise.withResolvers<AbortSignal>()
  app.get('/', async (_request, reply) => {
    const signal = untilClosed(reply)
    seen.resolve(signal)
    return String(signal.aborted)
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  expect(await (await fetch(url)).text()).toBe('false')
  const signal = await seen.promise
  if (!signal.aborted) await once(signal, 'abort')
  await app.close()
})
