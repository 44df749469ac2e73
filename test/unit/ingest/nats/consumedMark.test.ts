import { expect, test } from 'vitest'
import { ConsumedMark } from '../../../../collector/ingest/nats/consumedMark.ts'

test('a moment is reached when all its positions are settled', () => {
  const mark = new ConsumedMark(100)
  mark.note(200, [1, 5])
  mark.note(300, [1, 9])
  expect(mark.read([])).toBe(100)
  expect(mark.read([1, 4])).toBe(100)
  expect(mark.read([1, 5])).toBe(200)
  expect(mark.read([7, 9])).toBe(300)
})

test('a partition without messages is waited for by nobody', () => {
  const mark = new ConsumedMark(100)
  mark.note(200, [0, 0])
  expect(mark.read([])).toBe(200)
})

test('while the shippers are behind, moments are forgotten, but never reached too early', () => {
  const mark = new ConsumedMark(0)
  for (let at = 1; at <= 10_000; at++) {
    mark.note(at, [at])
    if (at % 500 === 0) expect(mark.read([at / 2])).toBeLessThanOrEqual(at / 2)
  }
  expect(mark.read([10_000])).toBe(10_000)
})
