import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openStream } from '../../../../collector/platform/clickhouse/stream.ts'
import { detachBuffer } from '../../../../collector/platform/nodeInternals/detachBuffer.ts'

const megabyte = 1024 * 1024
/** Less than the threshold at which the garbage collector starts. */
const answer = Buffer.alloc(16 * megabyte, 'a row of an answer\n')

test('what was read of an answer is no memory any more, neither the bytes nor what the socket had them in', async () => {
  const server = createServer((_request, response) => response.end(answer))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    // Twice: the second goes over the connection of the first.
    for (let time = 0; time < 2; time++) {
      const { body } = await openStream(
        url,
        'default',
        { sql: 'SELECT 1', params: {} },
        'JSONEachRow',
      )
      const before = process.memoryUsage().arrayBuffers
      let most = 0
      let at = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        expect(chunk.equals(answer.subarray(at, at + chunk.length))).toBe(true)
        at += chunk.length
        detachBuffer(chunk)
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      }
      expect(at).toBe(answer.length)
      expect(most).toBeLessThan(2 * megabyte)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('a buffer that shares its memory keeps it', () => {
  const pooled = Buffer.from('short')
  const part = Buffer.alloc(8, 'x').subarray(0, 4)
  for (const buffer of [pooled, part]) detachBuffer(buffer)
  expect([pooled.toString(), part.toString()]).toEqual(['short', 'xxxx'])
  const own = Buffer.alloc(8)
  detachBuffer(own)
  expect(own.byteLength).toBe(0)
})
