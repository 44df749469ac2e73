import { expect, test } from 'vitest'
import { seldomLog } from '../../../collector/platform/seldomLog.ts'

test('a failure is logged once a minute, and each other failure at once', () => {
  const lines: string[] = []
  let now = 0
  const log = seldomLog({ warn: ({ error }) => lines.push(String(error)) }, () => now)
  const fail = (error: string) => log.warn({ error }, 'the log cannot be read')
  for (const error of ['away', 'away', 'full', 'away']) fail(error)
  now += 59_999
  fail('away')
  expect(lines).toEqual(['away', 'full'])
  now += 1
  fail('away')
  expect(lines).toEqual(['away', 'full', 'away'])
})
