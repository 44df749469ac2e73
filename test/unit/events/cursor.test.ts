import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../../collector/query/cursor.ts'
import { orders } from '../../../collector/query/order.ts'

const cursors = fc.record({
  order: fc.constantFrom(...orders),
  from: fc.record({ millis: fc.integer({ min: -1e12, max: 4e12 }), eventId: fc.uuid() }),
  window: fc.record({ startMs: fc.integer(), endMs: fc.integer({ max: 4e12 }) }),
})

test('a cursor is read back as it was written, and is safe in a URL', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = encodeCursor(cursor)
      expect(decodeCursor(text)).toEqual(cursor)
      expect(encodeURIComponent(text)).toBe(text)
    }),
  )
})

test('anything else is refused', () => {
  const refused = expect.objectContaining({ status: 400, extra: { body: { parameter: 'cursor' } } })
  const text = encodeCursor({
    order: 'desc',
    from: { millis: 1, eventId: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' },
    window: { startMs: 0, endMs: 2 },
  })
  const unknown = Buffer.from(`up.${Buffer.from(text, 'base64url')}`).toString('base64url')
  for (const wrong of [
    '',
    'x',
    unknown,
    `${text}=`,
    `${text}!`,
    text.slice(1),
    text.slice(0, -1),
    `${text}AA`,
  ]) {
    expect(() => decodeCursor(wrong)).toThrow(refused)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (wrong) => {
      expect(() => decodeCursor(wrong)).toThrow(refused)
    }),
  )
})
