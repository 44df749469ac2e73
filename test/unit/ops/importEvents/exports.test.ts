/** Readers of exports get a file in parts of any length. The result is that of the complete file. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Source } from '../../../../collector/identity/load/source.ts'
import { countryCode } from '../../../../collector/ops/importEvents/products/countryCodes.ts'
import { withElementsAsLines } from '../../../../collector/ops/importEvents/products/jsonArray.ts'

/** A source that returns a text in parts of these lengths. */
function sourceOf(text: string, lengths: readonly number[]): Source {
  const bytes = Buffer.from(text)
  return {
    name: 'export',
    bytes: bytes.length,
    identity: null,
    format: 'ndjson',
    position: () => 0,
    async *read() {
      let from = 0
      for (const length of lengths) {
        yield bytes.subarray(from, from + length)
        from += length
      }
      yield bytes.subarray(from)
    },
  }
}

async function textOf(source: Source): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of source.read()) parts.push(part)
  return Buffer.concat(parts).toString()
}

const lengths = fc.array(fc.nat(40), { maxLength: 30 })
const indent = fc.constantFrom(undefined, 1, '\t')

test('the elements of a JSON array become lines of the same length', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), { minLength: 1 }),
      lengths,
      indent,
      async (elements, lengths, indent) => {
        const text = JSON.stringify(elements, null, indent)
        const lines = await textOf(withElementsAsLines(sourceOf(text, lengths)))
        expect(Buffer.byteLength(lines)).toBe(Buffer.byteLength(text))
        const read = lines.split('\n').filter((line) => line.trim() !== '')
        expect(read.map((line) => JSON.parse(line))).toEqual(JSON.parse(text))
      },
    ),
  )
})

test('lines of JSON stay as they are', async () => {
  const text = '\ufeff{"a":[1,\n2]}\n{"b":"x"}\n'
  expect(await textOf(withElementsAsLines(sourceOf(text, [1, 2, 3])))).toBe(text)
})

test.each([
  ['United States', 'US'],
  ['Türkiye', 'TR'],
  ['Turkey', 'TR'],
  ['Germany', 'DE'],
  ['France', 'FR'],
  ['Russia', 'RU'],
  ['United Kingdom', 'GB'],
  ['Myanmar (Burma)', 'MM'],
  ['Hong Kong', 'HK'],
  ['Côte d’Ivoire', 'CI'],
  ["Cote d'Ivoire", 'CI'],
  ['Bosnia and Herzegovina', 'BA'],
  ['Saint Lucia', 'LC'],
  ['Curacao', 'CW'],
  ['(not set)', undefined],
])('the code of %s is %s', (name, code) => {
  expect(countryCode(name)).toBe(code)
})
