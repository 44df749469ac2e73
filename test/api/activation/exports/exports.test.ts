/** Audiences sent to every kind of destination: real ones where there are such, else stand-ins that misbehave. */
import { afterAll, beforeAll } from 'vitest'
import type { Exports } from '../../../harness/exports.ts'
import { metaTests, tradeDeskTests } from './ads.ts'
import { hubspotTests, salesforceTests } from './crms.ts'
import { fileTests } from './files.ts'
import { openExports } from './harness.ts'
import { listTests } from './lists.ts'
import { optOutTests } from './optOuts.ts'
import { projectKeyTests } from './projectKeys.ts'
import { recordTests } from './records.ts'
import { webhookTests } from './webhook.ts'

let exports: Exports
beforeAll(async () => {
  exports = await openExports()
}, 600_000)
afterAll(() => exports?.close())

for (const tests of [
  recordTests,
  projectKeyTests,
  listTests,
  webhookTests,
  optOutTests,
  hubspotTests,
  salesforceTests,
  fileTests,
  metaTests,
  tradeDeskTests,
])
  tests(() => exports)
