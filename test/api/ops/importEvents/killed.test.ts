/** An import that is killed at any time continues with the same command, and stores each event once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cli } from '../../../harness/commands.ts'
import { waitFor } from '../../../harness/service.ts'
import { ndjson } from '../../identity/harness.ts'
import { countsOf, type Importing, openImporting, pageView } from './harness.ts'

let importing: Importing
beforeAll(async () => {
  importing = await openImporting()
})
afterAll(() => importing.close())

const files = 12
const rowsOfFile = 500
const kills = 2

test('an import that is killed twice stores and counts each event once', async () => {
  const ids = new Set<string>()
  const paths = Array.from({ length: files }, (_, file) => {
    const rows = Array.from({ length: rowsOfFile }, () => pageView(1 + (file % 30)))
    for (const { event_id } of rows) ids.add(event_id)
    return importing.write(`part-${file}.ndjson`, ndjson([...rows, { event_id: 'bad' }]))
  })
  const count = async () => (await importing.stored('event_id')).length
  for (let kill = 0; kill < kills; kill++) {
    const before = await count()
    const child = spawn(process.execPath, [cli, ...importing.wordsOf(...paths)], {
      env: { ...process.env, ...importing.env },
      cwd: importing.directory,
      stdio: 'ignore',
    })
    const ended = once(child, 'close')
    await waitFor('stored events', async () => (await count()) > before, 60_000)
    await delay(Math.random() * 150)
    child.kill('SIGKILL')
    await ended
  }
  const interrupted = await count()
  expect(interrupted).toBeLessThan(ids.size)
  const ended = await importing.importFiles(paths)
  expect(ended.stdout).toContain('including an earlier run')
  expect(countsOf(ended)).toEqual({ events: ids.size, duplicates: 0, rows: files })
  const stored = await importing.stored('event_id')
  expect(new Set(stored.map(({ event_id }) => event_id))).toEqual(ids)
  expect(stored).toHaveLength(ids.size)
  expect(importing.skipped('part-0.ndjson')).toHaveLength(files)
})
