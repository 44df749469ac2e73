/** `npx footfall-server events import`: history from files, stored as if beacons had brought it. */
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon, readEvent } from '../../../harness/api.ts'
import { cli } from '../../../harness/commands.ts'
import { storePixel } from '../../../harness/owners.ts'
import { openTerminal } from '../../../harness/terminal.ts'
import { csv, ndjson } from '../../identity/harness.ts'
import { countsOf, type Importing, openImporting, pageView } from './harness.ts'

let importing: Importing
beforeAll(async () => {
  importing = await openImporting()
})
afterAll(() => importing.close())

const storedIds = async (ids: string[]) =>
  (await importing.stored('event_id')).filter(({ event_id }) => ids.includes(String(event_id)))
    .length

const idsOf = (rows: { event_id: string }[]) => rows.map(({ event_id }) => event_id)

test('a row of years ago is stored with the columns of a beacon', async () => {
  const view = pageView(1_000)
  const path = importing.write('old.ndjson', ndjson([view]))
  const ended = await importing.importFiles([path])
  expect([ended.code, countsOf(ended), ended.stderr]).toEqual([
    0,
    { events: 1, duplicates: 0, rows: 0 },
    '',
  ])
  const [row] = (
    await importing.stored(
      'event_id, event_type, timestamp, event_data, toString(cookie_id) AS cookie_id, page_path, utm_source, referrer_host, browser, country, client_ip, screen_width, is_bot, pixel_id',
    )
  ).filter(({ event_id }) => event_id === view.event_id)
  expect(row).toMatchObject({
    event_type: 'page_view',
    event_data: view.event_data,
    cookie_id: view.cookie_id,
    page_path: '/day/1000',
    utm_source: 'mail',
    referrer_host: 'search.example',
    browser: 'Chrome',
    country: 'GB',
    client_ip: '81.2.69.0',
    screen_width: 1920,
    is_bot: false,
    pixel_id: importing.first.pixelId,
  })
  expect(row!.timestamp).toBe(view.timestamp)
})

test.each(['csv', 'ndjson'])('%s, also in gzip, gives the same events', async (format) => {
  const rows = [pageView(3), pageView(4, { cookie_id: randomUUID().toUpperCase() })]
  const content = format === 'csv' ? csv(rows) : ndjson(rows)
  const path = importing.write(`packed.${format}.gz`, gzipSync(content))
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 2, rows: 0 })
  expect(await storedIds(idsOf(rows))).toBe(2)
})

test('an export of the API as Parquet imports into an empty project as it was', async () => {
  const rows = Array.from({ length: 50 }, (_, index) => pageView(20 + index))
  const path = importing.write('before.ndjson', ndjson(rows))
  await importing.importFiles([path])
  const { service, keys, clickhouse, first } = importing
  const query = { start_time: '2000-01-01', limit: '10000', filter: 'page_url:like:%/day/%' }
  const answer = await fetch(
    `${service.url}/api/v3/events/web_event?${new URLSearchParams(query)}`,
    { headers: { ...keys.first, accept: 'application/vnd.apache.parquet' } },
  )
  const columns =
    'event_id, ts_millis, event_type, event_data, cookie_id, page_url, country, browser'
  const before = await importing.stored(columns)
  await clickhouse.command({
    sql: 'ALTER TABLE events DELETE WHERE project_id = {projectId:UUID} SETTINGS mutations_sync = 2',
    params: { projectId: first.projectId },
  })
  const exported = importing.write('export.parquet', Buffer.from(await answer.arrayBuffer()))
  const ended = await importing.importFiles([exported])
  expect([ended.stderr, countsOf(ended)]).toEqual([
    '',
    { events: before.length, duplicates: 0, rows: 0 },
  ])
  expect(await importing.stored(columns)).toEqual(before)
})

test('events that are stored, repeated in the file, or in a second import are stored once', async () => {
  const event = customEvent()
  await postBeacon(importing.service.url, beaconOf(importing.service, [event]))
  await readEvent(importing.service, event.event_id)
  const fresh = pageView(2)
  const { timestamp } = event.event_data
  const again = {
    ...pageView(0),
    ...event,
    timestamp,
    event_data: JSON.stringify(event.event_data),
  }
  const path = importing.write('twice.ndjson', ndjson([fresh, again, fresh, again]))
  expect(countsOf(await importing.importFiles([path]))).toEqual({
    events: 1,
    duplicates: 3,
    rows: 0,
  })
  expect(countsOf(await importing.importFiles([path]))).toEqual({
    events: 0,
    duplicates: 4,
    rows: 0,
  })
  expect(await storedIds([event.event_id, fresh.event_id])).toBe(2)
})

test('a beacon with an imported event is a duplicate', async () => {
  const event = customEvent()
  const path = importing.write(
    'first.ndjson',
    ndjson([{ ...pageView(0), ...event, timestamp: undefined }]),
  )
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 1 })
  const later = customEvent()
  await postBeacon(importing.service.url, beaconOf(importing.service, [event, later]))
  await readEvent(importing.service, later.event_id)
  expect(await storedIds([event.event_id])).toBe(1)
})

test('rows without event_id get the same id in each import', async () => {
  const { event_id: _, ...row } = pageView(7)
  const path = importing.write('no-ids.csv', csv([row]))
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 1 })
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 0, duplicates: 1 })
})

test('bad rows are skipped and reported with line and reason', async () => {
  const good = pageView(5)
  const lines = [
    JSON.stringify(good),
    '{"event_id":',
    JSON.stringify(pageView(5, { event_id: 'none' })),
    JSON.stringify(pageView(5, { cookie_id: 7 })),
    '',
    JSON.stringify(pageView(5, { event_type: 'purchase' })),
    JSON.stringify(pageView(-2)),
    JSON.stringify(pageView(5_000)),
    JSON.stringify(pageView(5, { event_data: '{"url":"https://shop.example/"}' })),
    JSON.stringify(pageView(5, { client_ip: 'home' })),
    JSON.stringify(pageView(5, { price: 3 })),
    JSON.stringify(pageView(5, { user_agent: 7 })),
    // As rows of servers have it.
    JSON.stringify(pageView(5, { user_agent: null })),
  ]
  const path = importing.write('bad.ndjson', lines.join('\n'))
  const ended = await importing.importFiles([path])
  expect([ended.code, countsOf(ended)]).toEqual([0, { events: 2, duplicates: 0, rows: 10 }])
  expect(ended.stdout).toContain('see bad.ndjson.skipped.ndjson')
  expect(importing.skipped('bad.ndjson').map(({ line, reason }) => [line, reason])).toEqual([
    [2, 'the line is not valid JSON'],
    [3, 'event_id must be a UUID'],
    [4, 'cookie_id must be a UUID'],
    [6, expect.stringContaining('event_type must be one of page_view, click')],
    [7, 'timestamp must not be in the future'],
    [8, 'event_data.timestamp must be at most 2922 days ago'],
    [9, expect.stringContaining('event_data requires ')],
    [10, 'client_ip must be an IPv4 or IPv6 address'],
    [11, 'unknown column "price": use --map or --ignore-unknown'],
    [12, 'user_agent must be a string'],
  ])
  expect(await storedIds([good.event_id])).toBe(1)
})

test('a row of another tenant, or of another project, is skipped; of a second pixel it is stored', async () => {
  const { foreign, second, postgres, first } = importing
  const sibling = randomUUID()
  await storePixel(postgres, sibling, first.projectId, 'Sibling')
  const rows = [
    pageView(1, { pixel_id: foreign.pixelId }),
    pageView(1, { pixel_id: second.pixelId }),
    pageView(1, { project_id: foreign.projectId }),
    pageView(1, { source: 'svcdsp' }),
    pageView(1, { pixel_id: sibling }),
  ]
  const path = importing.write('foreign.ndjson', ndjson(rows))
  expect(countsOf(await importing.importFiles([path]))).toEqual({
    events: 1,
    duplicates: 0,
    rows: 4,
  })
  const [{ events } = { events: -1 }] = await importing.clickhouse.rows<{ events: number }>({
    sql: 'SELECT count() AS events FROM events WHERE event_id IN {ids:Array(UUID)} AND pixel_id != {sibling:UUID}',
    params: { ids: idsOf(rows), sibling },
  })
  expect(events).toBe(0)
})

test('people who opted out and ignored pages are skipped', async () => {
  const { postgres, organizationId, first } = importing
  const away = randomUUID()
  await postgres.query('INSERT INTO opt_outs (organization_id, cookie_id) VALUES ($1, $2)', [
    organizationId,
    away,
  ])
  const path = importing.write(
    'away.ndjson',
    ndjson([pageView(1, { cookie_id: away }), pageView(1)]),
  )
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 1, rows: 1 })
  expect(importing.skipped('away.ndjson')).toMatchObject([
    { line: 1, reason: 'cookie_id must not be of a visitor who has opted out' },
  ])
  await postgres.query(`UPDATE projects SET ignored_paths = '{/day/9*}' WHERE project_id = $1`, [
    first.projectId,
  ])
  const ignored = importing.write('ignored.ndjson', ndjson([pageView(9), pageView(1)]))
  expect(countsOf(await importing.importFiles([ignored]))).toMatchObject({ events: 1, rows: 1 })
})

test('columns of other tools are mapped, and page views are made of them', async () => {
  const cookie = randomUUID()
  const path = importing.write(
    'tool.csv',
    `type,when,visitor,path,os,country,extra\npage_view,2026-01-31 12:00:00,${cookie},https://shop.example/tool,iOS,NL,x\n`,
  )
  const map = 'type=event_type,when=timestamp,visitor=cookie_id,path=page_url'
  const refused = await importing.importFiles([path, '--map', map])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('"extra"')])
  const ended = await importing.importFiles([path, '--map', map, '--ignore-unknown'])
  expect(countsOf(ended)).toEqual({ events: 1, duplicates: 0, rows: 0 })
  const rows = await importing.stored(
    'toString(cookie_id) AS cookie, page_url, os, country, is_bot',
  )
  expect(rows).toContainEqual({
    cookie,
    page_url: 'https://shop.example/tool',
    os: 'iOS',
    country: 'NL',
    is_bot: false,
  })
})

test('long integers of event_data keep their digits', async () => {
  const rows = [
    {
      ...pageView(1),
      event_type: 'custom',
      properties: { order: 1 },
      name: 'order',
      page_url: 'https://shop.example/',
    },
    pageView(1, { event_type: 'custom' }),
  ]
  const data = `{"url":"https://shop.example/","name":"order","properties":{"id":9007199254740993123},"timestamp":"2026-01-31T12:00:00.000Z"}`
  const { event_data: _, ...first } = rows[0]!
  const inline = JSON.stringify(rows[1]).replace(
    /"event_data":"(?:[^"\\]|\\.)*"/,
    `"event_data":${data}`,
  )
  const text = JSON.stringify({ ...rows[1], event_id: randomUUID(), event_data: data })
  const path = importing.write('digits.ndjson', `${JSON.stringify(first)}\n${inline}\n${text}\n`)
  expect(countsOf(await importing.importFiles([path]))).toEqual({
    events: 3,
    duplicates: 0,
    rows: 0,
  })
  const stored = await importing.stored('event_data')
  const digits = '"properties":{"id":9007199254740993123}'
  expect(stored.filter(({ event_data }) => String(event_data).includes(digits))).toHaveLength(2)
})

test('a dry run stores nothing and counts what an import would', async () => {
  const rows = [pageView(3), pageView(3, { cookie_id: null })]
  const path = importing.write('dry.ndjson', ndjson(rows))
  const dry = await importing.importFiles([path, '--dry-run'])
  expect(countsOf(dry)).toEqual({ events: 1, duplicates: 0, rows: 1 })
  expect(dry.stdout).toContain('nothing was stored')
  expect(await storedIds(idsOf(rows))).toBe(0)
  expect(countsOf(await importing.importFiles([path]))).toEqual(countsOf(dry))
})

test('a terminal shows a bar, and standard input is a file', async () => {
  const rows = Array.from({ length: 3_000 }, () => pageView(2))
  importing.write('bar.ndjson', ndjson(rows))
  const terminal = openTerminal(
    [process.execPath, cli, ...importing.wordsOf(`${importing.directory}/bar.ndjson`)],
    importing.env,
  )
  expect(await terminal.ended).toBe(0)
  expect(terminal.output()).toMatch(/[█░]{24} \d+ %/)
  expect(terminal.output()).toContain('3,000 events imported')
  const more = [pageView(2)]
  const piped = await importing.runLine(
    importing.wordsOf('-', '--format', 'ndjson'),
    Buffer.from(ndjson(more)),
  )
  expect(countsOf(piped)).toMatchObject({ events: 1 })
})

test.each([
  [['nothing.ndjson'], 'nothing.ndjson cannot be read: ENOENT'],
  [['-'], 'set --format to csv, ndjson, parquet'],
  [['x.ndjson', '--pixel', 'mine'], '--pixel must be the UUID'],
  [['x.ndjson', '--pixel', randomUUID()], 'there is no pixel'],
])('%j is refused with a reason', async (args, reason) => {
  importing.write('x.ndjson', ndjson([pageView(1)]))
  const ended = await importing.importFiles(args)
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(reason)])
})
