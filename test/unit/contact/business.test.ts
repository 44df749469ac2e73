import { expect, test } from 'vitest'
import { hasBusinessEmail } from '../../../collector/events/contact/business.ts'

test.each<[string, string | null, string | null, string | null, boolean]>([
  ['an address at the company', 'ada@one.example', 'ada@one.example', 'one.example', true],
  ['one that nobody knows the company of', 'ada@one.example', null, null, true],
  ['a business address at a mail provider', 'ada@gmail.com', 'ada@gmail.com', 'one.example', false],
  ['the same in capitals', 'ADA@GMAIL.COM', null, 'one.example', false],
  ['only email, at the company', null, 'ada@one.example', 'one.example', true],
  ['only email, below the company’s domain', null, 'ada@mail.one.example', 'One.Example', true],
  ['only email, elsewhere', null, 'ada@notone.example', 'one.example', false],
  ['only email, of a company that nobody knows', null, 'ada@one.example', null, false],
  ['only email, at a mail provider that is the company', null, 'ada@gmail.com', 'gmail.com', false],
  ['an empty business address', '', 'ada@gmail.com', 'one.example', false],
  ['no address', null, null, 'one.example', false],
])('%s', (_, business_email, email, company_domain, is) => {
  expect(hasBusinessEmail({ business_email, email, company_domain })).toBe(is)
})
