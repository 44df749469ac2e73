import { expect, test } from 'vitest'
import { hemOf, isEmail, uid2HashOf } from '../../../collector/platform/hem.ts'

test.each([
  'mailto:ann@example.com',
  'MAILTO:Ann@Example.com?subject=Hello',
  'ann@example.com\u200b',
  '\ufeffann@example.com ',
  '\u00a0ann@exam\u00adple.com',
  'Ann Example <ann@example.com>',
  'ann@example.com;',
])('%j has the hem of its address', (text) => {
  expect([isEmail(text), hemOf(text)]).toEqual([true, hemOf('ann@example.com')])
})

test.each([
  ['Jane.Doe+News@Gmail.com', 'janedoe@gmail.com'],
  ['mailto:j.a.n.e@gmail.com', 'jane@gmail.com'],
  ['jane.doe+news@example.com', 'jane.doe+news@example.com'],
])('%s is hashed for UID2 as %s', (text, form) => expect(uid2HashOf(text)).toBe(hemOf(form)))

test.each([
  'ann@example',
  'ann',
  '@example.com',
  'ann@@example.com',
  'a@b.com, c@d.com',
  'ann@.com',
])('%j is no address', (text) => expect(isEmail(text)).toBe(false))
