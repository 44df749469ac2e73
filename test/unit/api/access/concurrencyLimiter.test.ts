import { expect, test } from 'vitest'
import { ConcurrencyLimiter } from '../../../../collector/api/access/concurrencyLimiter.ts'

const never = new AbortController().signal
const soon = () => new Promise((resolve) => setImmediate(resolve))

test('lets so many of an owner in, and the others in their order when one leaves', async () => {
  const limiter = new ConcurrencyLimiter({ atOnce: 2, waitingMax: 10, waitMs: 60_000 })
  const entered: number[] = []
  for (const number of [1, 2, 3, 4]) void limiter.enter('a', never).then(() => entered.push(number))
  await soon()
  expect(entered).toEqual([1, 2])
  limiter.leave('a')
  await soon()
  expect(entered).toEqual([1, 2, 3])
  limiter.leave('a')
  await soon()
  expect(entered).toEqual([1, 2, 3, 4])
})

test('owners do not wait for each other', async () => {
  const limiter = new ConcurrencyLimiter({ atOnce: 1, waitingMax: 0, waitMs: 60_000 })
  expect(await limiter.enter('a', never)).toBe(true)
  expect(await limiter.enter('b', never)).toBe(true)
  expect(await limiter.enter('a', never)).toBe(false)
  limiter.leave('a')
  expect(await limiter.enter('a', never)).toBe(true)
})

test('who waits too long, or is aborted, is not let in and takes no place', async () => {
  const limiter = new ConcurrencyLimiter({ atOnce: 1, waitingMax: 10, waitMs: 30 })
  expect(await limiter.enter('a', never)).toBe(true)
  const leaving = new AbortController()
  const gone = limiter.enter('a', leaving.signal)
  leaving.abort()
  expect(await gone).toBe(false)
  expect(await limiter.enter('a', never)).toBe(false)
  limiter.leave('a')
  expect(await limiter.enter('a', never)).toBe(true)
})
