import { expect, test } from 'vitest'
import { aroundOnePoint } from '../../../collector/dashboard/web/charts/ranges.ts'

const hour = 3_600
const midnight = Date.UTC(2026, 10, 24) / 1_000
const range = (first: number, last: number) =>
  aroundOnePoint(hour / 2)({} as Parameters<ReturnType<typeof aroundOnePoint>>[0], first, last, 'x')

test('the time axis of one hour is that hour wide, not years', () => {
  expect(range(midnight, midnight)).toEqual([midnight - hour / 2, midnight + hour / 2])
})

test('the time axis of several points ends at the first and the last one', () => {
  expect(range(midnight, midnight + 3 * hour)).toEqual([midnight, midnight + 3 * hour])
})
