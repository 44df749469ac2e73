import { expect, test } from 'vitest'
import { withoutNumbers } from '../../../../collector/ingest/normalize/secrets.ts'

// The networks' own test numbers.
test.each([
  ['4111111111111111', 'Visa'],
  ['4111 1111 1111 1111', 'Visa, grouped'],
  ['4111-1111-1111-1111', 'Visa, with hyphens'],
  ['4222222222222', 'Visa of 13 digits'],
  ['5555555555554444', 'Mastercard'],
  ['2223003122003222', 'Mastercard of the new range'],
  ['378282246310005', 'American Express'],
  ['3782 822463 10005', 'American Express, grouped'],
  ['30569309025904', 'Diners Club'],
  ['3530111333300000', 'JCB'],
  ['6011111111111117', 'Discover'],
  ['6200000000000005', 'UnionPay'],
  ['6759649826438453', 'Maestro'],
  ['078-05-1120', 'social security'],
])('%s is masked (%s)', (number) => {
  expect(withoutNumbers(`pay with ${number} 12/27, now`)).toBe('pay with *** 12/27, now')
  expect(withoutNumbers(number)).toBe('***')
  const encoded = encodeURIComponent(`card ${number}`)
  expect(withoutNumbers(`https://shop.example/?note=${encoded}&page=2`)).toBe(
    'https://shop.example/?note=card%20***&page=2',
  )
})

test.each([
  ['4111111111111112', 'no check digit'],
  ['1234567812345670', 'no network’s range, though the check digit fits'],
  ['1763763763763', 'milliseconds since 1970'],
  ['41111111111111110000', 'longer than any card'],
  ['4111111111111', 'a length that Visa does not have with this check digit'],
  ['+31 20 123 4567', 'a telephone number'],
  ['2026-11-21', 'a date'],
  ['000-12-3456', 'a number of social security that is never given out'],
  ['978-0-306-40615-7', 'an ISBN'],
  ['123-45-67890', 'a longer number'],
  ['0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f', 'a UUID'],
])('%s stays (%s)', (text) => {
  expect(withoutNumbers(`see ${text}, please`)).toBe(`see ${text}, please`)
})
