import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forecastOf } from '../../../collector/billing/forecastRoute.ts'

const at = (text: string) => Date.parse(text)

test('what is spent, and the last week’s average for each day that is left', () => {
  const days = [
    { date: '2026-10-31', amount_micros: 1_000 },
    { date: '2026-11-01', amount_micros: 100 },
    ...Array.from({ length: 7 }, (_, n) => ({
      date: `2026-11-${String(13 + n)}`,
      amount_micros: 70,
    })),
    { date: '2026-11-20', amount_micros: 10 },
  ]
  expect(forecastOf(days, at('2026-11-20T12:00:00Z'))).toEqual({
    month: '2026-11',
    spent_micros: 600,
    daily_average_micros: 70,
    // 590 before today, today at least an average day, ten days after it.
    forecast_micros: 590 + 70 + 700,
  })
})

test('it differs from what is spent from the first day on', () => {
  const first = [{ date: '2026-11-20', amount_micros: 100 }]
  // Half a day for 100, and ten days after it.
  expect(forecastOf(first, at('2026-11-20T12:00:00Z'))).toMatchObject({
    spent_micros: 100,
    daily_average_micros: 200,
    forecast_micros: 200 + 2_000,
  })
  // The first minute counts as an hour.
  expect(forecastOf(first, at('2026-11-20T00:01:00Z'))).toMatchObject({
    daily_average_micros: 2_400,
  })
  const second = [...first, { date: '2026-11-21', amount_micros: 10 }]
  expect(forecastOf(second, at('2026-11-21T12:00:00Z'))).toMatchObject({
    spent_micros: 110,
    daily_average_micros: 100,
    forecast_micros: 100 + 100 + 900,
  })
})

test('a week without charges after earlier ones has an average of 0', () => {
  const days = [{ date: '2026-11-01', amount_micros: 100 }]
  expect(forecastOf(days, at('2026-11-20T12:00:00Z'))).toMatchObject({
    daily_average_micros: 0,
    forecast_micros: 100,
  })
})

test('at the beginning of a month the week before it counts, in a leap year’s February too', () => {
  const days = Array.from({ length: 7 }, (_, n) => ({
    date: `2028-01-${25 + n}`,
    amount_micros: 10,
  }))
  expect(forecastOf(days, at('2028-02-01T00:00:00Z'))).toEqual({
    month: '2028-02',
    spent_micros: 0,
    daily_average_micros: 10,
    forecast_micros: 290,
  })
})

test('it is never less than what is spent, and on the last day not more than that or an average day', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ day: fc.integer({ min: 1, max: 30 }), amount: fc.nat(1_000_000) })),
      fc.integer({ min: 1, max: 30 }),
      (usage, today) => {
        const days = usage
          .filter(({ day }) => day <= today)
          .map(({ day, amount }) => ({
            date: `2026-11-${String(day).padStart(2, '0')}`,
            amount_micros: amount,
          }))
        const now = at(`2026-11-${String(today).padStart(2, '0')}T12:00:00Z`)
        const { spent_micros, daily_average_micros, forecast_micros } = forecastOf(days, now)
        expect(forecast_micros).toBeGreaterThanOrEqual(spent_micros)
        if (today === 30)
          expect(forecast_micros).toBeLessThanOrEqual(spent_micros + daily_average_micros + 1)
      },
    ),
  )
})
