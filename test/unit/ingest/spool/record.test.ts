import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeSegment, FrameEncoder } from '../../../../collector/ingest/spool/frame.ts'

const lines = fc.array(
  fc.string({ unit: 'binary' }).map((text) => `${JSON.stringify({ text })}\n`),
  { minLength: 1 },
)
const ending = '}\n'
const segments = fc.array(lines, { minLength: 1, maxLength: 8 })

const recordOf = (encoder: FrameEncoder, lines: string[]) => {
  for (const line of lines) encoder.add(line.trimEnd(), ending)
  return Buffer.from(encoder.finish())
}
/** One after the other, as a spool uses an encoder again. */
const encode = (groups: string[][]) => {
  const encoder = new FrameEncoder()
  return groups.map((group) => recordOf(encoder, group))
}

test('a segment gives back the lines that went in, and how many', () => {
  fc.assert(
    fc.property(segments, (groups) => {
      const { payloads, rows, wholeBytes } = decodeSegment(Buffer.concat(encode(groups)))
      expect(Buffer.concat(payloads).toString()).toBe(groups.flat().join(''))
      expect(rows).toBe(groups.flat().length)
      expect(wholeBytes).toBe(Buffer.concat(encode(groups)).length)
    }),
  )
})

test('a segment cut anywhere gives back exactly the records that are whole', () => {
  fc.assert(
    fc.property(segments, fc.double({ min: 0, max: 1, noNaN: true }), (groups, share) => {
      const records = encode(groups)
      const all = Buffer.concat(records)
      const cut = Math.floor(all.length * share)
      let whole = 0
      let end = 0
      while (whole < records.length && end + records[whole]!.length <= cut)
        end += records[whole++]!.length
      const decoded = decodeSegment(all.subarray(0, cut))
      expect(decoded.payloads).toHaveLength(whole)
      expect(decoded.wholeBytes).toBe(end)
    }),
  )
})

test('a changed byte costs its own record', () => {
  fc.assert(
    fc.property(segments, fc.nat(), fc.integer({ min: 1, max: 255 }), (groups, at, change) => {
      const records = encode(groups)
      const all = Buffer.concat(records)
      const position = at % all.length
      all[position]! ^= change
      let damaged = 0
      for (let end = 0; ; damaged++) {
        end += records[damaged]!.length
        if (position < end) break
      }
      const { payloads, others } = decodeSegment(all)
      const headerBytes = records[0]!.indexOf('\n') + 1
      expect(payloads).toEqual(
        records.toSpliced(damaged, 1).map((record) => record.subarray(headerBytes)),
      )
      expect(others.map(({ length }) => length)).toEqual([records[damaged]!.length])
    }),
  )
})

test('zeros and noise after the last record are not records', () => {
  const record = recordOf(new FrameEncoder(), ['{"a":1}\n'])
  for (const tail of [
    Buffer.alloc(4096),
    Buffer.from('#zzzz'),
    Buffer.from('#00000001 00000000 00000001\nx'),
  ]) {
    expect(decodeSegment(Buffer.concat([record, tail])).wholeBytes).toBe(record.length)
  }
})
