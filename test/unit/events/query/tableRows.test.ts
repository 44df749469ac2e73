import { type Table, tableFromArrays, tableToIPC } from 'apache-arrow'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ArrowRowCounter } from '../../../../collector/events/query/page/tableRows.ts'

/** A table of several record batches, and how many rows each has. */
const tables = fc
  .array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 6 })
  .map((sizes): { table: Table; sizes: number[] } => {
    const parts = sizes.map((size) =>
      tableFromArrays({
        name: Array.from({ length: size }, (_, n) => (n % 3 === 0 ? null : 'é'.repeat(n))),
        number: Float64Array.from({ length: size }, (_, n) => n),
      }),
    )
    return { table: parts[0]!.concat(...parts.slice(1)), sizes }
  })

test('rows count when the last byte of their batch has gone by, however the stream is cut', () => {
  fc.assert(
    fc.property(
      tables,
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
      ({ table }, cuts) => {
        const bytes = Buffer.from(tableToIPC(table, 'stream'))
        const ends = endsOfBatches(table)
        const counter = new ArrowRowCounter()
        let passed = 0
        let counted = 0
        for (let n = 0; passed < bytes.length; n++) {
          const piece = bytes.subarray(passed, passed + cuts[n % cuts.length]!)
          counted += counter.count(piece)
          passed += piece.length
          const whole = ends.filter(({ end }) => end <= passed)
          expect(counted).toBe(whole.reduce((sum, { rows }) => sum + rows, 0))
        }
        expect(counted).toBe(table.numRows)
      },
    ),
  )
})

/**
 * End of each batch of a table in its stream: the length of the stream of the batches up to it, without its
 * end.
 */
function endsOfBatches(table: Table): { end: number; rows: number }[] {
  const endBytes = 8
  return table.batches.map((batch, at) => {
    const upTo = new (table.constructor as new (batches: unknown[]) => Table)(
      table.batches.slice(0, at + 1),
    )
    return { end: tableToIPC(upTo, 'stream').length - endBytes, rows: batch.numRows }
  })
}
