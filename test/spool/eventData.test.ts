import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { eventRow } from '../../collector/ingest/normalize/eventRow.ts'
import { receivedAtOf } from '../../collector/ingest/spool/rowFields.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { projectIdAt } from '../../collector/platform/clickhouse/shards.ts'
import { newClickHouseDatabase } from '../harness/databases.ts'
import { recordOf } from '../harness/record.ts'
import { ids, row } from './segments.ts'

let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = openClickHouse(inject('clickhouseUrl'), await newClickHouseDatabase())
})
afterAll(() => clickhouse.close())

const projectId = '0190f0a0-0000-4000-8000-000000000001'
const receivedAt = '2026-01-31T12:00:00.000Z'
const shared = `"project_id":"${projectId}","received_at":"${receivedAt}",`
const hostile: object[] = [
  {},
  { braces: '}{"}\\"{', nested: { '{"': ['}', { '': '\\' }] }, end: '\\\\' },
  { project_id: 'mine', received_at: 'then', spool_id: 'x', seq: 7, event_data: '{"a":1}' },
  { text: '\u2028\ud83d\ude00\u0001\t\n\r/', é: 'ü'.repeat(500) },
  { numbers: [0, -0, 1e300, 5e-324, 123456789012345, true, null, [], {}] },
]

test('event_data is stored byte by byte as its line has it, and no member of it is taken for a column', async () => {
  const objects = [
    ...hostile,
    ...fc.sample(
      fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 5 })),
      300,
    ),
  ]
  const expected = new Map<string, string>()
  const rows = ids(objects.length).map((event_id, at) => {
    const event_data = { url: null, ...objects[at] } as { url: null } & Record<string, unknown>
    const line = eventRow(
      { event_id, event_type: 'custom', event_data },
      shared,
      Date.parse(receivedAt),
    )
    expected.set(event_id, line.slice(line.indexOf('"event_data":') + '"event_data":'.length, -1))
    const bytes = Buffer.from(line)
    expect([projectIdAt(bytes, 0), receivedAtOf(bytes)]).toEqual([projectId, receivedAt])
    return line
  })
  await clickhouse.insertLines(
    'events',
    Readable.from([`${rows.join('\n')}\n`], { objectMode: false }),
    'all',
  )
  const stored = await clickhouse.rows<{ event_id: string; bytes: string; project_id: string }>({
    sql: 'SELECT event_id, hex(event_data) AS bytes, project_id FROM events',
    params: {},
  })
  expect(stored).toHaveLength(rows.length)
  for (const { event_id, bytes, project_id } of stored) {
    expect(Buffer.from(bytes, 'hex').toString()).toBe(expected.get(event_id))
    expect(project_id).toBe(projectId)
  }
  for (const [event_id, text] of expected) expect(() => JSON.parse(text), event_id).not.toThrow()
})

test('a segment of the version before, with event_data as a text, is stored the same', async () => {
  const [event_id] = ids(1) as [string]
  const now = row(event_id)
  const object = now.slice(now.indexOf('"event_data":') + '"event_data":'.length, -1)
  const before = now.replace(object, JSON.stringify(object))
  const segment = recordOf([before], '0190f0a0-0000-4000-8000-000000000009', 1)
  const line = segment.subarray(segment.indexOf('{'))
  await clickhouse.insertLines('events', Readable.from([line], { objectMode: false }), 'before')
  const [stored] = await clickhouse.rows<{ event_data: string }>({
    sql: 'SELECT event_data FROM events WHERE event_id = {event_id:UUID}',
    params: { event_id },
  })
  expect(stored!.event_data).toBe(object)
})

test('what a line lacks, or has as null, is stored as its column has it by default', async () => {
  const given = {
    none: {},
    null: { source: null, browser: null },
    own: { source: 'svcdsp', browser: 'Chrome' },
  }
  const lines = Object.entries(given).map(([page_path, members], at) =>
    JSON.stringify({
      ...JSON.parse(row(ids(3)[at])),
      page_path,
      spool_id: ids(1)[0],
      seq: at,
      ...members,
    }),
  )
  await clickhouse.insertLines(
    'events',
    Readable.from(lines.map((line) => `${line}\n`)),
    'defaults',
  )
  const stored = await clickhouse.rows<{
    page_path: string
    source: string
    browser: string | null
  }>({
    sql: `SELECT page_path, source, browser FROM events WHERE page_path IN ('none', 'null', 'own') ORDER BY page_path`,
    params: {},
  })
  expect(stored).toEqual([
    { page_path: 'none', source: 'pixel', browser: null },
    { page_path: 'null', source: 'pixel', browser: null },
    { page_path: 'own', source: 'svcdsp', browser: 'Chrome' },
  ])
})
