import fc from 'fast-check'
import { expect, test } from 'vitest'
import { filterMalformed } from '../../../../collector/identity/load/insertChunk.ts'
import {
  countLines,
  endOfLastRecord,
  recordsOf,
} from '../../../../collector/identity/load/records.ts'

const text = fc.oneof(
  fc.stringMatching(/^[a-z",\r\n é]{0,8}$/),
  fc.string({ maxLength: 8, unit: 'grapheme' }),
)
const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`
/** As programs write it: quoted always, or only where it must be. */
const cell = fc
  .tuple(text, fc.boolean())
  .map(([value, always]) => (always || /[",\r\n]|^\s|\s$/.test(value) ? quoted(value) : value))
const columns = 3
const lineEnd = fc.constantFrom('\n', '\r\n')
const record = fc
  .tuple(fc.array(cell, { minLength: columns, maxLength: columns }), lineEnd)
  .map(([cells, end]) => `${cells.join(',')}${end}`)
const file = fc.array(record, { maxLength: 8 })

test('the records of CSV are those that were written, whatever their texts hold', () => {
  fc.assert(
    fc.property(file, (records) => {
      const bytes = Buffer.from(records.join(''))
      const found = [...recordsOf(bytes, 'csv')]
      expect(found.map(({ start, end }) => bytes.toString('utf8', start, end))).toEqual(records)
      let lines = 0
      for (const [index, one] of found.entries()) {
        expect(one.lines).toBe(lines)
        lines += countLines(Buffer.from(records[index]!))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('wherever a piece of the file ends, it is cut after a whole record', () => {
  fc.assert(
    fc.property(file, fc.double({ min: 0, max: 1, noNaN: true }), (records, share) => {
      const bytes = Buffer.from(records.join(''))
      const ends = records.map((_, index) =>
        Buffer.byteLength(records.slice(0, index + 1).join('')),
      )
      const length = Math.floor(share * bytes.length)
      expect([0, ...ends]).toContain(endOfLastRecord(bytes.subarray(0, length), 'csv'))
      expect(endOfLastRecord(bytes, 'csv')).toBe(bytes.length)
    }),
    { numRuns: 2_000 },
  )
})

test('a sieve lets every record through that was written right, and no other', () => {
  const wrong = fc.constantFrom('a,b\n', 'a,b,c,d\n', '"a"b,c,d\n', '\n')
  fc.assert(
    fc.property(fc.array(fc.oneof(record, wrong), { maxLength: 8 }), (records) => {
      const isRight = (one: string) => !['a,b\n', 'a,b,c,d\n', '"a"b,c,d\n', '\n'].includes(one)
      const { bytes, unreadable } = filterMalformed(
        Buffer.from(records.join('')),
        'csv',
        ['a', 'b', 'c'],
        false,
      )
      expect(bytes.toString()).toBe(records.filter(isRight).join(''))
      expect(unreadable).toHaveLength(records.filter((one) => !isRight(one) && one !== '\n').length)
    }),
    { numRuns: 2_000 },
  )
})

test('a quote within a field that has none at its beginning opens nothing', () => {
  const bytes = Buffer.from('5" pipe,a,b\nc,d,e\n')
  expect([...recordsOf(bytes, 'csv')]).toHaveLength(2)
  expect(endOfLastRecord(bytes, 'csv')).toBe(bytes.length)
})
