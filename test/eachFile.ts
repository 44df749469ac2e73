/** Runs before every file that uses the stores; its `afterAll` after all of the file's own. */
import { afterAll, beforeEach } from 'vitest'
import { dropDatabases } from './harness/databases.ts'
import { renewIds } from './harness/ids.ts'
import { followLogs, forgetLogs } from './harness/logs.ts'
import { startCounting, takeUsage } from './harness/usage.ts'

renewIds()
startCounting()

const readLogsOfFile = followLogs()
beforeEach(({ onTestFailed }) => {
  const readLogs = followLogs()
  onTestFailed(() => printLogs(readLogs()))
})
// biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern of the fixtures here.
afterAll(({}, { result, meta }) => {
  meta.usage = takeUsage()
  // So soon only a hook before the tests has failed it.
  if (result?.state === 'fail') printLogs(readLogsOfFile())
  forgetLogs()
})
afterAll(dropDatabases)

function printLogs(logs: string): void {
  if (logs) console.error(`Logged meanwhile:\n${logs}`)
}
