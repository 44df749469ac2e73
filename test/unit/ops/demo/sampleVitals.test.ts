import { expect, test } from 'vitest'
import { rate, type Vital } from '../../../../collector/dashboard/web/pages/vitals/rating.ts'
import { planVitals } from '../../../../collector/ops/demo/sampleVitals.ts'
import { planDay } from '../../../../collector/ops/sandbox/sampleTraffic.ts'

const dayMs = 86_400_000
const firstDay = Date.UTC(2026, 2, 1) / dayMs
const days = Array.from({ length: 30 }, (_, index) => firstDay + index)

interface Measurement {
  name: string
  url: string
  properties: { name: string; value: number; rating: string }
}

const measured = days.flatMap((day) => planVitals(day, planDay(day)))
const dataOf = ({ event }: (typeof measured)[number]) => event.event_data as unknown as Measurement

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Returns the 75th percentile of each page. */
function percentiles(metric: string): Map<string, number> {
  const values = grouped(
    measured.map(dataOf).filter(({ properties }) => properties.name === metric),
    ({ url }) => new URL(url).pathname,
  )
  return new Map(
    [...values].map(([path, of]) => {
      const sorted = of.map(({ properties }) => properties.value).sort((a, b) => a - b)
      return [path, sorted[Math.floor(sorted.length * 0.75)]!]
    }),
  )
}

test('every page of the shop has all five metrics', () => {
  const pages = days
    .flatMap(planDay)
    .filter(({ event, visitor }) => event.event_type === 'page_view' && !visitor.isBot)
    .map(({ event }) => new URL(event.event_data.url).pathname)
  for (const metric of ['LCP', 'INP', 'CLS', 'FCP', 'TTFB'])
    expect([...percentiles(metric).keys()].sort(), metric).toEqual([...new Set(pages)].sort())
})

test.each(['LCP', 'INP', 'CLS'])(
  '%s is good on some pages and needs improvement on others',
  (metric) => {
    const ratings = [...percentiles(metric).values()].map((value) =>
      rate(metric.toLowerCase() as Vital, value),
    )
    expect(new Set(ratings)).toEqual(new Set(['good', 'fair']))
  },
)

test('the first paint follows the first byte, and the largest paint is the last', () => {
  const views = grouped(measured, ({ event, visitor }) =>
    [visitor.cookieId, event.event_data.url, Math.round(event.sentMillis / 1_000)].join(),
  )
  const complete = [...views.values()]
    .map((of) => new Map(of.map(dataOf).map(({ properties: { name, value } }) => [name, value])))
    .filter((of) => of.size === 5)
  expect(complete.length).toBeGreaterThan(100)
  for (const of of complete) {
    expect(of.get('TTFB')).toBeLessThan(of.get('FCP')!)
    expect(of.get('FCP')).toBeLessThan(of.get('LCP')!)
  }
})

test('a day is the same at each call, its events have their own ids and end with it', () => {
  for (const day of days.slice(0, 3)) {
    const events = planVitals(day, planDay(day))
    expect(planVitals(day, planDay(day))).toEqual(events)
    const times = events.map(({ event }) => event.sentMillis)
    expect(Math.max(...times)).toBeLessThan((day + 1) * dayMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
  const ids = [...days.flatMap(planDay), ...measured].map(({ event }) => event.event_id)
  expect(new Set(ids).size).toBe(ids.length)
})
