import { expect, test } from 'vitest'
import { formatProgress, openProgressBar } from '../../../../collector/identity/load/progressBar.ts'

const before = { rows: 0, rejected: 0, bytes: 0 }

test('a line tells the share, the rows, their rate and the time left', () => {
  expect(formatProgress({ rows: 512_000, rejected: 3, bytes: 500 }, before, 1_000, 10_000)).toBe(
    '████████████░░░░░░░░░░░░ 50 % · 512,000 rows · 51,200 rows/s · 0:10 left · 3 rejected',
  )
})

test('what an earlier run had done is in the share, not in the rate', () => {
  const resumed = { rows: 900, rejected: 0, bytes: 900 }
  expect(
    formatProgress({ rows: 950, rejected: 0, bytes: 950 }, resumed, 1_000, 3_700_000),
  ).toContain('95 % · 950 rows · 0 rows/s · 1:01:40 left')
})

test('where nobody knows how much there is, a line tells the rows and their rate', () => {
  expect(formatProgress({ rows: 10, rejected: 0, bytes: 5 }, before, null, 1_000)).toBe(
    '10 rows · 10 rows/s',
  )
})

test('a terminal has one line that is drawn anew; a file gets a line every five seconds', () => {
  const draw = (isTTY: boolean) => {
    let nowMs = 0
    const written: string[] = []
    const bar = openProgressBar(
      { isTTY, columns: 40, write: (text) => written.push(text) },
      100,
      () => nowMs,
    )
    for (; nowMs <= 11_000; nowMs += 100) bar.show({ rows: nowMs, rejected: 0, bytes: nowMs / 110 })
    bar.clear()
    return written
  }
  const terminal = draw(true)
  expect(terminal).toHaveLength(57)
  expect(terminal.at(-1)).toBe('\r\x1b[2K')
  expect(terminal.every((text) => text.startsWith('\r\x1b[2K') && text.length <= 5 + 39)).toBe(true)
  expect(draw(false)).toEqual([
    expect.stringMatching(/ 45 % · 5,000 rows · 1,000 rows\/s .*\n$/),
    expect.stringMatching(/ 90 % · 10,000 rows · 1,000 rows\/s .*\n$/),
  ])
})
