import { expect, test } from 'vitest'
import { money } from '../../../collector/dashboard/web/components/amounts.ts'

test('money below a cent is no zero, and nothing is', () => {
  expect([0, 1, 9_999, 10_000, 1_234_560_000].map(money)).toEqual([
    '$0.00',
    'under $0.01',
    'under $0.01',
    '$0.01',
    '$1,234.56',
  ])
})
