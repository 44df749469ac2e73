import { expect, test } from 'vitest'
import { preferredLanguage } from '../../../../collector/ingest/normalize/device.ts'

test.each([
  ['en-GB,en;q=0.9', 'en-GB'],
  ['EN-gb', 'en-GB'],
  [' de , en', 'de'],
  ['fr;q=0.8', 'fr'],
  ['zh-hant-tw,zh;q=0.5', 'zh-Hant-TW'],
  ['es-419', 'es-419'],
  ['ca-ES-valencia', 'ca-ES'],
  ['tlh', 'tlh'],
])('of %j the language is %s', (header, language) => {
  expect(preferredLanguage(header)).toBe(language)
})

test.each([
  undefined,
  '',
  '*',
  'english please',
  '"',
  '-en',
  `${'a'.repeat(60_000)}`,
  '1234',
  'e',
  ',en',
])('of %j there is none', (header) => {
  expect(preferredLanguage(header)).toBeNull()
})
