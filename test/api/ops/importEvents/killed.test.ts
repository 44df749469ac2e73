/** An import that is killed at any time continues with the same command, and stores each event once. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../../../harness/service.ts'
import { ndjson } from '../../identity/harness.ts'
import { countsOf, type Importing, openImporting, pageView } from './harness.ts'

let importing: Importing
beforeAll(async () => {
  importing = await openImporting()
})
afterAll(() => importing.close())

const files = 40
const rowsOfFile = 500
const kills = 6

test('an import that is killed again and again stores and counts each event once', async () => {
  const ids = new Set<string>()
  const paths = Array.from({ length: files }, (_, file) => {
    const rows = Array.from({ length: rowsOfFile }, () => pageView(1 + (file % 30)))
    for (const { event_id } of rows) ids.add(event_id)
    return importing.write(`part-${file}.ndjson`, ndjson([...rows, { event_id: 'bad' }]))
  })
  const count = async () => (await importing.stored('event_id')).length
  for (let kill = 0; kill < kills; kill++) {
    const before = await count()
    const { child, ended } = importing.start(...paths)
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

const eventsOfDump = 120_000

test('a dump of Umami continues within the file', { timeout: 180_000 }, async () => {
  const site = randomUUID()
  const session = randomUUID()
  const rows = Array.from({ length: eventsOfDump }, (_, index) => {
    const id = `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
    const minute = String(Math.floor(index / 2_000) % 60).padStart(2, '0')
    return `${id}\t${site}\t${session}\t2024-03-10 12:${minute}:00.5+00\t/page/${index}\t1\tshop.example`
  })
  const path = importing.write(
    'umami.sql',
    [
      'COPY public.session (session_id, website_id, browser, city) FROM stdin;',
      `${session}\t${site}\tchrome\tBerlin`,
      '\\.',
      'COPY public.website_event (event_id, website_id, session_id, created_at, url_path, event_type, hostname) FROM stdin;',
      ...rows,
      '\\.',
      '',
    ].join('\n'),
  )
  const stored = async () => {
    const [row] = await importing.clickhouse.rows<{ events: number; cities: number }>({
      sql: `SELECT toUInt32(count()) AS events, toUInt32(countIf(city = 'Berlin')) AS cities FROM events
            WHERE cookie_id = {session:UUID}`,
      params: { session },
    })
    return row!
  }
  const { child, ended } = importing.startExport('umami', '--site', site, path)
  await waitFor('the first chunk', async () => (await stored()).events > 0, 60_000)
  child.kill('SIGKILL')
  await ended
  expect((await stored()).events).toBeLessThan(eventsOfDump)
  const again = await importing.importExport('umami', ['--site', site, path])
  expect(again.stdout).toContain('including an earlier run')
  expect(countsOf(again)).toEqual({ events: eventsOfDump, duplicates: 0, rows: 0 })
  expect(await stored()).toEqual({ events: eventsOfDump, cities: eventsOfDump })
})
