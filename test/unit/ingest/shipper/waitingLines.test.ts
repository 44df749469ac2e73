import { expect, test } from 'vitest'
import { lineSetOf, linesIn } from '../../../../collector/ingest/shipper/waitingLines.ts'
import { splitLines } from '../../../../collector/ingest/spool/rowFields.ts'

const payloads = ['a\nb\nc\n', 'd\ne\nf\ng\nh\ni\n'].map((text) => Buffer.from(text))
const textsOf = (lines: readonly Buffer[]) =>
  lines.map((line) => line.toString().trimEnd()).join('')
const listOf = (text: string) =>
  splitLines(Buffer.from([...text].map((line) => `${line}\n`).join('')))

test('a set has the lines of its lists, in the order of the batch', () => {
  const set = lineSetOf(payloads, [listOf('bdi'), listOf('ah')])
  expect(set).toMatchObject({ of: 9, size: 5 })
  expect(textsOf(linesIn(payloads, set))).toBe('abdhi')
  expect(lineSetOf(payloads, []).size).toBe(0)
})

test('of a batch with another number of lines, all lines are in the set', () => {
  const set = lineSetOf(payloads, [listOf('b')])
  expect(textsOf(linesIn(payloads.slice(0, 1), set))).toBe('abc')
})
