/**
 * `node test/failed.mjs REPORT`: the files with a failed test in a report that Vitest wrote as JSON, one a line. Ends
 * with 1 where there are none, or more than a machine that was busy for a moment explains.
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const filesMax = 3

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const failed = testResults
  .filter(({ status }) => status === 'failed')
  .map(({ name }) => relative(process.cwd(), name))
if (failed.length === 0 || failed.length > filesMax) process.exit(1)
console.log(failed.join('\n'))
