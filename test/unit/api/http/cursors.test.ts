import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openCursors } from '../../../../collector/api/http/cursors.ts'

const key = randomBytes(32)
const list = openCursors(key)('list')
const refused = expect.objectContaining({
  status: 400,
  message: expect.stringContaining('must be a next_cursor of this list'),
  extra: { body: { parameter: 'cursor' } },
})

test('a cursor is read back as it was written, by every process, and is safe in a URL', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.jsonValue({ noUnicodeString: false }),
      (owner, place) => {
        const text = list.write(owner, place)
        expect(openCursors(key)('list').read(owner, text)).toEqual(
          JSON.parse(JSON.stringify(place)),
        )
        expect(encodeURIComponent(text)).toBe(text)
      },
    ),
  )
})

test('a cursor of another list, owner or service is refused', () => {
  const text = list.write('owner', ['place'])
  for (const [other, owner] of [
    [openCursors(key)('another'), 'owner'],
    [list, 'another'],
    [openCursors(randomBytes(32))('list'), 'owner'],
  ] as const) {
    expect(() => other.read(owner, text)).toThrow(refused)
  }
})

test('a cursor that was changed by a character, cut or lengthened is refused', () => {
  const text = list.write('owner', { order: 'desc', from: { millis: 1, eventId: 'one' } })
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let at = 0; at < text.length; at++) {
    const others = [...digits].filter((digit) => digit !== text[at])
    for (const digit of [...others, '', '=', '!', '.']) {
      const changed = text.slice(0, at) + digit + text.slice(at + 1)
      expect(() => list.read('owner', changed)).toThrow(refused)
    }
  }
  for (const wrong of ['', 'x', `${text}=`, `${text}!`, `${text}A`, `${text}AA`, text + text]) {
    expect(() => list.read('owner', wrong)).toThrow(refused)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (wrong) => {
      expect(() => list.read('owner', wrong)).toThrow(refused)
    }),
  )
})
