import { once } from 'node:events'
import { request } from 'node:http'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { untilClosed } from '../../../../collector/api/http/streaming.ts'

test('the signal of a caller who has already left is aborted', async () => {
  const app = Fastify()
  const isAborted = new Promise<boolean>((resolve) => {
    app.get('/', async (_request, reply) => {
      await once(reply.raw, 'close')
      resolve(untilClosed(reply).aborted)
      return ''
    })
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const arrived = once(app.server, 'request')
  const asked = request(url)
  asked.once('error', () => {})
  asked.end()
  await arrived
  asked.destroy()
  expect(await isAborted).toBe(true)
  await app.close()
})

test('the signal of a caller who waits is aborted when the answer is complete', async () => {
  const app = Fastify()
  let signal: AbortSignal | undefined
  app.get('/', async (_request, reply) => {
    signal = untilClosed(reply)
    return String(signal.aborted)
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  expect(await (await fetch(url)).text()).toBe('false')
  if (!signal!.aborted) await once(signal!, 'abort')
  await app.close()
})
