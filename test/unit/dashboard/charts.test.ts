import { describe, expect, test } from 'vitest'
import {
  type Interval,
  intervalFor,
  intervalsFor,
  nextOf,
  ticksOf as ticksIn,
} from '../../../collector/dashboard/web/charts/buckets.ts'
import { daysWithin } from '../../../collector/dashboard/web/charts/daysWithin.ts'
import {
  comparedWindow,
  daysOf,
  neighbourOf,
  wholeOf,
  windowOf,
} from '../../../collector/dashboard/web/view/periods.ts'
import { type TimeZone, timeZone, utc } from '../../../collector/platform/timeZone.ts'

const hour = 3_600_000
const day = 24 * hour
const midnight = Date.UTC(2026, 10, 25)
/** The starts of the intervals of a window that begins with one. */
function startsOf(
  interval: Interval,
  { start_ms, end_ms }: { start_ms: number; end_ms: number },
  zone: TimeZone = utc,
): number[] {
  const starts: number[] = []
  for (let at = start_ms; at < end_ms; at = nextOf(interval, at, zone)) starts.push(at)
  return starts
}
const ticksOf = (interval: Interval, starts: number[], most: number, zone: TimeZone = utc) =>
  ticksIn(interval, starts, most, zone)
const at = (time: number) => new Date(time).toISOString().slice(0, 16)

describe('the axis of a chart', () => {
  test('of today has 24 hours at each hour of the day, with ticks at the same ones', () => {
    for (let now = midnight; now < midnight + day; now += hour / 2) {
      const starts = startsOf('hour', wholeOf(daysOf('today', now)))
      expect(starts).toEqual(Array.from({ length: 24 }, (_, index) => midnight + index * hour))
      expect(ticksOf('hour', starts, 8)).toEqual([0, 3, 6, 9, 12, 15, 18, 21])
    }
  })

  test('of today by minute has 1,440 points, with ticks at hours that are alike', () => {
    const starts = startsOf('minute', wholeOf(daysOf('today', midnight)))
    expect(starts).toHaveLength(1_440)
    expect(ticksOf('minute', starts, 12).map((place) => place / 60)).toEqual([
      0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22,
    ])
    expect(ticksOf('minute', starts, 3).map((place) => place / 60)).toEqual([0, 12])
  })

  test('of some days by hour has its ticks at midnight, noon or hours between that are alike each day', () => {
    const starts = startsOf('hour', wholeOf({ from: '2026-11-23', to: '2026-11-25' }))
    expect(starts).toHaveLength(72)
    expect(ticksOf('hour', starts, 12).map((place) => place % 24)).toEqual([
      0, 6, 12, 18, 0, 6, 12, 18, 0, 6, 12, 18,
    ])
    expect(ticksOf('hour', starts, 5).map((place) => place % 24)).toEqual([0, 0, 0])
  })

  test('has a tick for every point that has room, else for every second, third or seventh day', () => {
    const starts = startsOf('day', wholeOf(daysOf('days30', midnight)))
    expect(starts).toHaveLength(30)
    expect(ticksOf('day', starts, 40)).toHaveLength(30)
    expect(ticksOf('day', starts, 12)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27])
    expect(ticksOf('day', starts, 6)).toEqual([0, 7, 14, 21, 28])
  })

  test('by week begins on Mondays, by month on the first; its ticks name quarters from January', () => {
    const year = wholeOf(daysOf('days365', midnight))
    const weeks = startsOf('week', year).slice(1)
    expect(weeks).toHaveLength(52)
    expect(weeks.every((start) => new Date(start).getUTCDay() === 1)).toBe(true)
    const months = startsOf('month', year).slice(1)
    expect(months.every((start) => new Date(start).getUTCDate() === 1)).toBe(true)
    expect(ticksOf('month', months, 5).map((place) => at(months[place]!).slice(0, 7))).toEqual([
      '2026-01',
      '2026-04',
      '2026-07',
      '2026-10',
    ])
  })

  test('offers intervals that give several points, and not more than the API does', () => {
    const of = (days: number) => {
      const window = { start_ms: midnight - days * day, end_ms: midnight }
      return [intervalsFor(window), intervalFor(window)]
    }
    expect(of(1)).toEqual([['minute', 'hour'], 'hour'])
    expect(of(25 / 24)[0]).toContain('minute')
    expect(of(2)[0]).toEqual(['hour', 'day'])
    expect(of(7)).toEqual([['hour', 'day'], 'day'])
    expect(of(30)).toEqual([['hour', 'day', 'week'], 'day'])
    expect(of(365)).toEqual([['day', 'week', 'month'], 'week'])
  })
})

describe('in another time zone', () => {
  const zoneOf = (name: string) => timeZone(name)!

  test.each([
    ['America/Los_Angeles', '2026-03-08', 23],
    ['America/Los_Angeles', '2026-11-01', 25],
    ['Asia/Kathmandu', '2026-11-01', 24],
  ])('%s: %s has %i hours, and the next day begins at its midnight', (name, date, hours) => {
    const zone = zoneOf(name)
    const whole = wholeOf({ from: date, to: date }, zone)
    expect(startsOf('hour', whole, zone)).toHaveLength(hours)
    expect(intervalsFor(whole)).toEqual(['minute', 'hour'])
    expect(nextOf('day', whole.start_ms, zone)).toBe(whole.end_ms)
    expect(at(whole.start_ms + zone.offsetAt(whole.start_ms))).toBe(`${date}T00:00`)
    const ticks = ticksOf('hour', startsOf('hour', whole, zone), 8, zone)
    const hourOf = (place: number) => {
      const start = startsOf('hour', whole, zone)[place]!
      return new Date(start + zone.offsetAt(start)).getUTCHours()
    }
    expect(ticks.every((place) => hourOf(place) % 3 === 0)).toBe(true)
  })

  test('today is the local day, and as much of yesterday is compared with it, also when clocks change', () => {
    const zone = zoneOf('America/Los_Angeles')
    // 18:30 on the day after clocks went back.
    const now = Date.UTC(2026, 10, 3, 2, 30)
    expect(daysOf('today', now, zone)).toEqual({ from: '2026-11-02', to: '2026-11-02' })
    const window = windowOf(daysOf('today', now, zone), now, zone)
    expect(at(window.start_ms)).toBe('2026-11-02T08:00')
    const compared = comparedWindow(window, 'previous', undefined, now, zone)!
    expect(at(compared.start_ms)).toBe('2026-11-01T07:00')
    expect(at(compared.end_ms)).toBe('2026-11-02T02:31')
    expect(neighbourOf({ from: '2026-11-02', to: '2026-11-02' }, 1, now, zone)).toBeNull()
  })
})

describe('the days of a point', () => {
  const of = (interval: Interval, from: string, to: string, index: number, zone = utc) =>
    daysWithin(interval, startsOf(interval, wholeOf({ from, to }, zone), zone), index, zone)

  test('are its day, week or month, and none if the chart shows no other days', () => {
    expect(of('day', '2026-11-01', '2026-11-30', 4)).toEqual({
      from: '2026-11-05',
      to: '2026-11-05',
    })
    expect(of('week', '2026-11-02', '2026-11-29', 1)).toEqual({
      from: '2026-11-09',
      to: '2026-11-15',
    })
    expect(of('month', '2026-01-01', '2026-12-31', 1)).toEqual({
      from: '2026-02-01',
      to: '2026-02-28',
    })
    expect(of('hour', '2026-11-01', '2026-11-02', 30)?.from).toBe('2026-11-02')
    expect(of('hour', '2026-11-01', '2026-11-01', 3)).toBeNull()
    expect(of('minute', '2026-11-01', '2026-11-01', 3)).toBeNull()
  })

  test('follow the time zone, also on the days when clocks change', () => {
    const newYork = timeZone('America/New_York')!
    for (const [index, day] of [
      [7, '2026-03-08'],
      [8, '2026-03-09'],
    ] as const)
      expect(of('day', '2026-03-01', '2026-03-31', index, newYork)).toEqual({ from: day, to: day })
  })
})

describe('periods', () => {
  const now = midnight + 17 * hour + 12_345

  test('lead to those before and after, by their names where they have one, never to the future', () => {
    const from = (from: string, to: string, direction: -1 | 1) =>
      neighbourOf({ from, to }, direction, now)
    expect(from('2026-11-25', '2026-11-25', -1)?.period).toBe('yesterday')
    expect(from('2026-11-24', '2026-11-24', 1)?.period).toBe('today')
    expect(from('2026-11-25', '2026-11-25', 1)).toBeNull()
    expect(from('2026-11-19', '2026-11-25', -1)).toEqual({
      period: 'custom',
      days: { from: '2026-11-12', to: '2026-11-18' },
    })
    expect(from('2026-11-12', '2026-11-18', 1)?.period).toBe('days7')
    expect(from('2026-11-01', '2026-11-25', -1)?.period).toBe('lastMonth')
    expect(from('2026-10-01', '2026-10-31', 1)?.period).toBe('month')
    expect(from('2026-10-01', '2026-10-31', -1)?.days).toEqual({
      from: '2026-09-01',
      to: '2026-09-30',
    })
    expect(from('2026-03-01', '2026-03-31', -1)?.days.to).toBe('2026-02-28')
    expect(from('2026-01-01', '2026-11-25', -1)).toEqual({
      period: 'custom',
      days: { from: '2025-01-01', to: '2025-12-31' },
    })
    expect(from('2025-01-01', '2025-12-31', 1)?.period).toBe('year')
    expect(from('2026-01-01', '2026-11-25', 1)).toBeNull()
    // A part of a month that is over is not a month.
    expect(from('2026-10-01', '2026-10-29', -1)?.days.from).toBe('2026-09-02')
  })

  test('are compared with as much of the one before, or of the same days a year earlier', () => {
    const window = windowOf({ from: '2026-11-19', to: '2026-11-25' }, now)
    const compared = (of: 'previous' | 'year' | 'off') => {
      const found = comparedWindow(window, of, undefined, now)
      return found && [at(found.start_ms), at(found.end_ms)]
    }
    expect(compared('previous')).toEqual(['2026-11-12T00:00', '2026-11-18T17:01'])
    expect(compared('year')).toEqual(['2025-11-19T00:00', '2025-11-25T17:01'])
    expect(compared('off')).toBeNull()
    expect(comparedWindow(window, 'custom', { from: '2026-01-01', to: '2026-01-02' }, now)).toEqual(
      { start_ms: Date.UTC(2026, 0, 1), end_ms: Date.UTC(2026, 0, 3) },
    )
  })
})
