import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerError } from '../../../../collector/api/http/answerErrors.ts'
import { NoAnswerPossible } from '../../../../collector/api/http/errors.ts'

/** Requests whose outcome is unknown, such as those of a ledger that did not answer. */
const app = Fastify()
let url: string
beforeAll(async () => {
  app.setErrorHandler(answerError)
  app.all('/', () => {
    throw new NoAnswerPossible('the ledger did not answer')
  })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

test.each([
  ['GET', undefined],
  ['POST', '{"items":[1]}'],
])('%s: the connection ends, so the client can repeat the request', async (method, body) => {
  const headers = { 'content-type': 'application/json' }
  await expect(
    fetch(url, { method, ...(body && { body, headers }), signal: AbortSignal.timeout(10_000) }),
  ).rejects.toMatchObject({ name: 'TypeError' })
})
