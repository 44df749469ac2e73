import { expect, test } from 'vitest'
import {
  rate,
  textOfVital,
  type Vital,
} from '../../../collector/dashboard/web/pages/vitals/rating.ts'

test.each<[Vital, number, string]>([
  ['lcp', 2_500, 'good'],
  ['lcp', 2_501, 'fair'],
  ['lcp', 4_000, 'fair'],
  ['lcp', 4_001, 'poor'],
  ['inp', 200, 'good'],
  ['inp', 501, 'poor'],
  ['cls', 0.1, 'good'],
  ['cls', 0.26, 'poor'],
])('%s of %d is rated %s, as web.dev has it', (name, value, rating) => {
  expect(rate(name, value)).toBe(rating)
})

test('values read with their units', () => {
  expect(textOfVital('lcp', 1_840)).toBe('1.8 s')
  expect(textOfVital('inp', 140.4)).toBe('140 ms')
  expect(textOfVital('cls', 0.051)).toBe('0.05')
})
