import { expect, test } from 'vitest'
import { visitorPath, visitorText } from '../../../../collector/platform/outbox/visitorText.ts'

test.each([
  ['Ada Lovelace', 'Ada Lovelace'],
  ['  two\r\n\r\nlines\tand\u2028more\u0085 ', 'two lines and more'],
  ['bell\u0007 and \u001b[31mred', 'bell and [31mred'],
  ['zero\u200bwidth', 'zerowidth'],
  ['Preis: 5 €, 日本語', 'Preis: 5 €, 日本語'],
  ['half \ud800', 'half \ufffd'],
])('text of a visitor is one line without control characters: %j', (text, shown) => {
  expect(visitorText(text)).toBe(shown)
})

test.each([
  'Log in at https://evil.example',
  'WWW.evil.example',
  'w\u200bww.evil.example',
  'http\n://evil.example'.replace('\n', '\u200b'),
  'ｗｗｗ．evil.example',
  'http：／／evil.example',
  'exe.\u202etxt',
  '\u2066isolated\u2069',
  '',
  ' \n ',
  null,
  7,
])('text that may become a link, or that has bidirectional controls, is none: %j', (text) => {
  expect(visitorText(text)).toBeNull()
})

test('a text has at most 100 characters, and no half ones', () => {
  expect(visitorText('x'.repeat(100))).toBe('x'.repeat(100))
  expect(visitorText('😀'.repeat(1_000))).toBe(`${'😀'.repeat(99)}…`)
})

test('a page is its path alone', () => {
  expect(visitorPath('https://evil.example/pricing?next=https://evil.example#x')).toBe('/pricing')
  for (const url of [
    'https://shop.example/www.evil.example',
    'https://shop.example/http://x',
    '',
    null,
  ])
    expect(visitorPath(url)).toBeNull()
})
