import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  chooseColumns,
  formatMapping,
  readMapping,
} from '../../../../collector/identity/load/mapping.ts'

const fields = ['hem', 'email', 'first_name', 'age', 'age_range']
const endsPair = new RegExp(`=(${fields.join('|')})(,|$)`, 's')
/** Any name of a column that does not hold "=field" and a comma itself. */
const column = fc
  .oneof(fc.string({ minLength: 1, unit: 'binary' }), fc.stringMatching(/^[a-z=, ]{1,12}$/))
  .filter((name) => !endsPair.test(`${name},`))
const mapping = fc.uniqueArray(fc.tuple(column, fc.constantFrom(...fields)), {
  selector: ([name]) => name,
  maxLength: 5,
})

test('a mapping that is written down is read as it was, whatever signs its columns have', () => {
  fc.assert(
    fc.property(mapping, (pairs) => {
      const written = formatMapping(new Map(pairs))
      expect([...readMapping(written, fields)]).toEqual(pairs)
    }),
    { numRuns: 2_000 },
  )
})

test('any text is a mapping to fields that there are, or is refused in one line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z_=,]{0,30}$/)), (text) => {
      try {
        const read = readMapping(text, fields)
        expect([...read.values()].every((field) => fields.includes(field))).toBe(true)
        expect([formatMapping(read), `${formatMapping(read)},`]).toContain(text)
      } catch (error) {
        expect((error as Error).message).toMatch(/^--map: /)
      }
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['age', 'must begin with column=field'],
  ['x=shoe_size', 'must begin with column=field'],
  ['=age', 'must begin with column=field'],
  ['x=age,', null],
  ['x=age,x=hem', 'the column "x" is named twice'],
])('"%s"', (text, message) => {
  if (message === null) expect(readMapping(text, fields).size).toBe(1)
  else expect(() => readMapping(text, fields)).toThrow(message)
})

test('columns are chosen by the mapping, then by their names; every field has one at most', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...fields, 'a', 'b', 'c')),
      fc.uniqueArray(
        fc.tuple(fc.constantFrom(...fields, 'a', 'b', 'c'), fc.constantFrom(...fields)),
        {
          selector: ([name]) => name,
        },
      ),
      (present, pairs) => {
        const mapping = new Map(pairs)
        let chosen: readonly { column: string; field: string }[]
        try {
          chosen = chooseColumns(present, { mapping, fields, ignoreUnknown: true })
        } catch (error) {
          expect((error as Error).message).toMatch(/there is no column|two columns map to/)
          return
        }
        for (const { column, field } of chosen) {
          expect(present).toContain(column)
          expect(field).toBe(mapping.get(column) ?? column)
        }
        expect(new Set(chosen.map(({ field }) => field)).size).toBe(chosen.length)
        const left = present.filter((name) => !chosen.some(({ column }) => column === name))
        expect(left.filter((name) => fields.includes(name))).toEqual([])
      },
    ),
  )
})
