import { expect, test } from 'vitest'
import { ConsumedMark } from '../../../../collector/ingest/nats/natsShipping.ts'

test('a moment is reached when its position is committed', () => {
  const mark = new ConsumedMark()
  expect(mark.read(0)).toBe(null)
  mark.note(200, 5)
  mark.note(300, 9)
  expect(mark.read(4)).toBe(null)
  expect(mark.read(5)).toBe(200)
  expect(mark.read(9)).toBe(300)
})

test('a log without messages is waited for by nobody', () => {
  const mark = new ConsumedMark()
  mark.note(200, 0)
  expect(mark.read(0)).toBe(200)
})

test('while the shipper is behind, moments are forgotten, but never reached too early', () => {
  const mark = new ConsumedMark()
  mark.note(0, 0)
  for (let at = 1; at <= 10_000; at++) {
    mark.note(at, at)
    if (at % 500 === 0) expect(mark.read(at / 2)).toBeLessThanOrEqual(at / 2)
  }
  expect(mark.read(10_000)).toBe(10_000)
})
