import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../../collector/platform/localStores/supervise.ts'

test('a free port is none that is listened on, none that was told before, and none that connections get', async () => {
  const first = await freePort()
  const holder = createServer().listen(first + 1, '127.0.0.1')
  await once(holder, 'listening')
  const others = await Promise.all(Array.from({ length: 20 }, freePort))
  holder.close()
  expect(new Set([first, first + 1, ...others]).size).toBe(22)
  // Linux' default, the lowest of them.
  expect(Math.max(first, ...others)).toBeLessThan(32_768)
  expect(Math.min(first, ...others)).toBeGreaterThan(1_024)
})
