import { expect, test } from 'vitest'
import { Gate } from '../../../collector/api/access/gate.ts'

const never = new AbortController().signal
const soon = () => new Promise((resolve) => setImmediate(resolve))

test('lets so many of an owner in, and the others in their order when one leaves', async () => {
  const gate = new Gate({ atOnce: 2, waitingMax: 10, waitMs: 60_000 })
  const entered: number[] = []
  for (const number of [1, 2, 3, 4]) void gate.enter('a', never).then(() => entered.push(number))
  await soon()
  expect(entered).toEqual([1, 2])
  gate.leave('a')
  await soon()
  expect(entered).toEqual([1, 2, 3])
  gate.leave('a')
  await soon()
  expect(entered).toEqual([1, 2, 3, 4])
})

test('owners do not wait for each other', async () => {
  const gate = new Gate({ atOnce: 1, waitingMax: 0, waitMs: 60_000 })
  expect(await gate.enter('a', never)).toBe(true)
  expect(await gate.enter('b', never)).toBe(true)
  expect(await gate.enter('a', never)).toBe(false)
  gate.leave('a')
  expect(await gate.enter('a', never)).toBe(true)
})

test('who waits too long, or is aborted, is not let in and takes no place', async () => {
  const gate = new Gate({ atOnce: 1, waitingMax: 10, waitMs: 30 })
  expect(await gate.enter('a', never)).toBe(true)
  const leaving = new AbortController()
  const gone = gate.enter('a', leaving.signal)
  leaving.abort()
  expect(await gone).toBe(false)
  expect(await gate.enter('a', never)).toBe(false)
  gate.leave('a')
  expect(await gate.enter('a', never)).toBe(true)
})
