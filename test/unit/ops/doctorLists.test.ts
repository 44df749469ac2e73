import { expect, test } from 'vitest'
import { examineLists } from '../../../collector/ops/doctor/machine.ts'

test('doctor states the date and the age of each list, and says when they are old', () => {
  const now = Date.parse('2026-12-08T00:00:00Z')
  expect(examineLists(now).map(({ ok, text }) => [ok, text])).toEqual([
    [true, 'the list sourceCategories is of 2026-11-28, 10 days old'],
    [true, 'the list spamReferrers is of 2026-11-28, 10 days old'],
    [true, 'the list transitHosts is of 2026-11-28, 10 days old'],
    [true, expect.stringMatching(/^bots are recognized by isbot \d/)],
  ])
  const later = examineLists(now + 500 * 86_400_000)
  expect(later.filter(({ ok }) => !ok)).toHaveLength(3)
})
