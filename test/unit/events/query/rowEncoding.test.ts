import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinRows } from '../../../../collector/events/query/page/rowEncoding.ts'

async function* cut(text: string, sizes: readonly number[]) {
  const bytes = Buffer.from(text)
  for (let from = 0, i = 0; from < bytes.length; i += 1) {
    const size = sizes[i % sizes.length]!
    yield bytes.subarray(from, from + size)
    from += size
  }
}

async function join(
  text: string,
  separator: string,
  joint: string,
  rows: number,
  sizes: readonly number[] = [7],
  pieceBytes = 1,
) {
  const rest: Buffer[] = []
  const joined: Buffer[] = []
  const joining = { separator: Buffer.from(separator), joint: Buffer.from(joint), rows, pieceBytes }
  let passed = 0
  /** How many rows had been passed on, and as what. */
  const steps: [number, string][] = []
  for await (const { bytes, records } of joinRows(cut(text, sizes), joining, rest)) {
    // Its memory is of the next piece then.
    joined.push(Buffer.from(bytes))
    passed += records
    steps.push([passed, Buffer.concat(joined).toString()])
  }
  expect(passed).toBe(rows)
  return { joined: Buffer.concat(joined).toString(), rest: Buffer.concat(rest).toString(), steps }
}

const lines = fc.array(fc.string({ unit: fc.constantFrom('a', '"', '\r', 'é', '😀', ',') }), {
  minLength: 1,
  maxLength: 20,
})
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
const pieceSizes = fc.integer({ min: 1, max: 40 })

test('lines are joined anew wherever the chunks end, and what is too many is left over', () =>
  fc.assert(
    fc.asyncProperty(
      lines,
      sizes,
      pieceSizes,
      fc.nat(),
      async (rows, chunkSizes, pieceBytes, n) => {
        const wanted = 1 + (n % rows.length)
        const text = rows.map((row) => `${row}\n`).join('')
        const { steps, ...all } = await join(text, '\n', ',', wanted, chunkSizes, pieceBytes)
        expect(all).toEqual({
          joined: rows.slice(0, wanted).join(','),
          rest: rows
            .slice(wanted)
            .map((row) => `${row}\n`)
            .join(''),
        })
        // Nothing of a row is passed on before all of it is there.
        for (const [passed, sent] of steps) {
          expect(sent).toBe(rows.slice(0, passed).join(',') + (passed < wanted ? ',' : ''))
        }
      },
    ),
  ))

test('a long separator is found wherever the chunks end', () =>
  fc.assert(
    fc.asyncProperty(
      lines,
      sizes,
      pieceSizes,
      fc.nat(),
      async (rows, chunkSizes, pieceBytes, n) => {
        const wanted = 1 + (n % rows.length)
        const { joined } = await join(
          `${rows.join('\n<key>')}\n`,
          '\n<key>',
          '\n',
          wanted,
          chunkSizes,
          pieceBytes,
        )
        expect(joined).toBe(rows.slice(0, wanted).join('\n'))
      },
    ),
  ))

test('what was passed on is free when the next is asked for, and nothing else is', () =>
  fc.assert(
    fc.asyncProperty(
      lines,
      sizes,
      pieceSizes,
      fc.nat(),
      async (rows, chunkSizes, pieceBytes, n) => {
        const wanted = 1 + (n % rows.length)
        const chunks: Buffer[] = []
        // As a socket gives them: each piece is all of its memory.
        async function* own() {
          for await (const piece of cut(rows.map((row) => `${row}\n`).join(''), chunkSizes)) {
            chunks.push(Buffer.from(new Uint8Array(piece).buffer))
            yield chunks.at(-1)!
          }
        }
        const rest: Buffer[] = []
        const pieces: Buffer[] = []
        const joining = {
          separator: Buffer.from('\n'),
          joint: Buffer.from(','),
          rows: wanted,
          pieceBytes,
        }
        for await (const { bytes } of joinRows(own(), joining, rest)) {
          pieces.push(Buffer.from(bytes))
          expect(chunks.slice(0, -2).every(({ length }) => length === 0)).toBe(true)
        }
        expect(Buffer.concat(pieces).toString()).toBe(rows.slice(0, wanted).join(','))
        const left = rows.slice(wanted).map((row) => `${row}\n`)
        expect(Buffer.concat(rest).toString()).toBe(left.join(''))
      },
    ),
  ))

test('a stream that ends before its last row is an error, not a short page', async () => {
  await expect(join('a\nb\n', '\n', ',', 3)).rejects.toThrow('ended before its last row')
  await expect(join('a\n<key>b', '\n<key>', '\n', 2)).rejects.toThrow('ended before its last row')
})
