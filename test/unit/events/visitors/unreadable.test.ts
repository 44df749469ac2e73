import { expect, test } from 'vitest'
import type { Window } from '../../../../collector/events/query/window/window.ts'
import { findDamagedRanges, triesMax } from '../../../../collector/events/visitors/damagedRanges.ts'
import { ClickHouseRefused, isDamaged } from '../../../../collector/platform/storeErrors.ts'

const hourMs = 3_600_000
const startMs = Date.UTC(2026, 0, 1)
const month: Window = { startMs, endMs: startMs + 31 * 24 * hourMs }
const hours = (from: number, to: number): Window => ({
  startMs: startMs + from * hourMs,
  endMs: startMs + to * hourMs,
})

/** Finds the gaps of `window` where slices that touch any of `damaged` cannot be read. */
async function gapsOf(window: Window, ...damaged: Window[]) {
  let tries = 0
  const gaps = await findDamagedRanges(window, async (slice) => {
    tries += 1
    return !damaged.some(({ startMs, endMs }) => slice.startMs < endMs && startMs < slice.endMs)
  })
  return { gaps, tries }
}

test('a damaged hour of a month is found exactly, in twenty tries', async () => {
  const { gaps, tries } = await gapsOf(month, hours(100, 101))
  expect(gaps).toEqual([hours(100, 101)])
  expect(tries).toBeLessThanOrEqual(20)
})

test('several are found, and neighbours are one', async () => {
  const { gaps } = await gapsOf(month, hours(5, 6), hours(6, 7), hours(700, 701))
  expect(gaps).toEqual([hours(5, 7), hours(700, 701)])
})

test('where all is damaged, it is tried so often and no more, and all is left out', async () => {
  const { gaps, tries } = await gapsOf(month, month)
  expect(gaps).toEqual([month])
  expect(tries).toBe(triesMax)
})

test('an hour and less is left out as it is', async () => {
  for (const window of [hours(3, 4), { startMs: startMs + 5, endMs: startMs + 50 }]) {
    expect(await gapsOf(window, month)).toEqual({ gaps: [window], tries: 0 })
  }
})

test('windows that begin inside an hour are split at full hours', async () => {
  const window = { startMs: startMs + 1, endMs: startMs + 10 * hourMs - 1 }
  expect((await gapsOf(window, hours(0, 1))).gaps).toEqual([
    { ...hours(0, 1), startMs: startMs + 1 },
  ])
})

test('errors of the data are told from all others', () => {
  expect(isDamaged(new ClickHouseRefused('checksum', 40))).toBe(true)
  expect(isDamaged(new ClickHouseRefused('no connection', 279))).toBe(false)
  expect(isDamaged(new ClickHouseRefused('memory', 241))).toBe(false)
  expect(isDamaged(new Error('socket hang up'))).toBe(false)
})
