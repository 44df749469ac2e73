import { expect, test } from 'vitest'
import { followLogs, keepLog } from '../../harness/logs.ts'

test('a failed test prints the last sixty lines that each log got meanwhile, and no log that got none', () => {
  let busy = 'before\n'
  keepLog({ name: 'busy', output: () => busy })
  keepLog({ name: 'silent', output: () => 'before\n' })
  const readLogs = followLogs()
  let late = ''
  keepLog({ name: 'late', output: () => late })
  for (let line = 1; line <= 70; line++) busy += `line ${line}\n`
  late = 'only line\n'
  const lines = readLogs().split('\n')
  expect(lines.slice(0, 3)).toEqual(['busy:', '(10 lines before)', 'line 11'])
  expect(lines.slice(-3)).toEqual(['line 70', 'late:', 'only line'])
  expect(lines).toHaveLength(64)
})
