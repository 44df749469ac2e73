import { expect, test } from 'vitest'
import { type Interval, startsOf } from '../../../collector/analytics/intervals.ts'
import { timeZone } from '../../../collector/platform/timeZone.ts'

const hourMs = 3_600_000
/** The hours of each interval between two local midnights. */
const hoursOf = (name: string, interval: Interval, from: string, until: string) => {
  const zone = timeZone(name)!
  const [startMs, endMs] = [from, until].map((date) => zone.instantOf(Date.parse(date))) as [
    number,
    number,
  ]
  const starts = startsOf(interval, { startMs, endMs }, zone)!
  return starts.map((start, index) => ((starts[index + 1] ?? endMs) - start) / hourMs)
}

test('days have 23 and 25 hours where clocks change', () => {
  expect(hoursOf('America/Los_Angeles', 'day', '2026-03-07', '2026-03-10')).toEqual([24, 23, 24])
  expect(hoursOf('America/Los_Angeles', 'day', '2026-10-31', '2026-11-03')).toEqual([24, 25, 24])
  expect(hoursOf('Australia/Lord_Howe', 'day', '2026-04-04', '2026-04-07')).toEqual([24, 24.5, 24])
})

test('a day has as many hours as its clocks show', () => {
  expect(hoursOf('America/Los_Angeles', 'hour', '2026-03-08', '2026-03-09')).toHaveLength(23)
  expect(hoursOf('America/Los_Angeles', 'hour', '2026-11-01', '2026-11-02')).toHaveLength(25)
})

test('weeks begin on local Mondays, months on the 1st', () => {
  expect(hoursOf('America/Los_Angeles', 'week', '2026-03-02', '2026-03-16')).toEqual([167, 168])
  expect(hoursOf('America/Los_Angeles', 'month', '2026-10-01', '2026-12-01')).toEqual([744, 721])
})

test('hours of +05:45 begin with local hours', () => {
  const zone = timeZone('Asia/Kathmandu')!
  const startMs = Date.UTC(2026, 4, 1, 10, 20)
  expect(startsOf('hour', { startMs, endMs: startMs + hourMs }, zone)).toEqual([
    Date.UTC(2026, 4, 1, 10, 15),
    Date.UTC(2026, 4, 1, 11, 15),
  ])
})

test('a day has as many minutes as its clocks show, and a longer window has too many', () => {
  const minutes = (from: string, until: string) =>
    hoursOf('America/Los_Angeles', 'minute', from, until)
  expect(minutes('2026-03-08', '2026-03-09')).toHaveLength(23 * 60)
  expect(minutes('2026-11-01', '2026-11-02')).toHaveLength(25 * 60)
  expect(new Set(minutes('2026-11-01', '2026-11-02'))).toEqual(new Set([1 / 60]))
  expect(startsOf('minute', { startMs: 0, endMs: 1_501 * 60_000 }, timeZone('UTC')!)).toBeNull()
})
