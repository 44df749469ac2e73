/** `npx footfall-server import`: exports of other products, in the formats that these products document. */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import type { Row } from '../../../harness/api.ts'
import { countsOf, type Importing, openImporting } from './harness.ts'

const fixtures = join(packageRoot, 'test/api/ops/importEvents/fixtures')
const site = '0b5a1e0e-6f0d-4a53-9c7c-1d1f7d6c2b10'

let importing: Importing
beforeAll(async () => {
  importing = await openImporting()
})
afterAll(() => importing.close())

const copied = (name: string, as = name) => {
  copyFileSync(join(fixtures, name), join(importing.directory, as))
  return as
}

const columns =
  'event_type, timestamp, event_data, toString(cookie_id) AS cookie_id, page_url, referrer_url, browser, os, device_type, country, region, city, client_ip, screen_width, event_id'

/** The events stored since, with their parsed event_data. */
async function storedSince(before: Set<unknown>): Promise<Row[]> {
  const rows = await importing.stored(columns)
  const added = rows.filter(({ event_id }) => !before.has(event_id))
  return added.map((row) => ({ ...row, event_data: JSON.parse(String(row.event_data)) }))
}

const idsNow = async () =>
  new Set((await importing.stored('event_id')).map(({ event_id }) => event_id))

const reasonsOf = (name: string) =>
  importing.skipped(name).map(({ line, reason }) => [line, reason])

test('a dry run shows the mapping and the reasons, and stores nothing', async () => {
  const before = await idsNow()
  const ended = await importing.importExport('ga4', ['--dry-run', copied('ga4.ndjson')])
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toMatch(/^ga4 → Footfall$/m)
  expect(ended.stdout).toMatch(/^ {2}user_pseudo_id +cookie_id, a UUID derived from it$/m)
  expect(ended.stdout).toContain('9 events can be imported; nothing was stored')
  expect(ended.stdout).toContain('1 × platform is ANDROID: Footfall imports web streams only')
  expect(await storedSince(before)).toEqual([])
})

test('GA4: each enhanced measurement becomes its type, with device and place', async () => {
  const before = await idsNow()
  const ended = await importing.importExport('ga4', [copied('ga4.ndjson')])
  expect(countsOf(ended)).toEqual({ events: 9, duplicates: 0, rows: 4 })
  const rows = await storedSince(before)
  expect(rows.map(({ event_type }) => event_type)).toEqual([
    'page_view',
    'scroll_depth',
    'click',
    'download',
    'search',
    'form_submission',
    'video',
    'custom',
    'custom',
  ])
  const [view, scroll, click, download, , , video, cart] = rows
  expect(view).toMatchObject({
    timestamp: '2024-03-10T12:00:00.000Z',
    page_url: 'https://shop.example/shoes?utm_source=news',
    referrer_url: 'https://search.example/',
    browser: 'Chrome',
    os: 'Mac OS',
    device_type: 'desktop',
    country: 'TR',
    city: 'Istanbul',
    event_data: { title: 'Shoes “sale”' },
  })
  expect(scroll!.event_data).toMatchObject({ percentage: 90, threshold: 75 })
  expect(click!.event_data).toMatchObject({
    link: 'outbound',
    elementText: 'Partner',
    element: { href: 'https://partner.example/x' },
  })
  expect(download!.event_data).toMatchObject({ filename: 'Price.List.PDF', extension: 'pdf' })
  expect(video!.event_data).toMatchObject({ action: 'progress', percent: 25, duration: 60 })
  expect(cart!.event_data).toMatchObject({
    name: 'add_to_cart',
    properties: { currency: 'EUR', value: 59.9, quantity: 2 },
  })
  expect(new Set(rows.map(({ cookie_id }) => cookie_id)).size).toBe(1)
  expect(reasonsOf('ga4.ndjson')).toEqual([
    [1, 'GA4 derives session_start itself; Footfall has its own visits'],
    [11, 'user_pseudo_id is empty: the visitor denied analytics_storage'],
    [12, 'platform is ANDROID: Footfall imports web streams only'],
    [13, 'event_params has no page_location: name the host of the site with --host'],
  ])
})

test('GA4: the same rows as Parquet are duplicates of the NDJSON', async () => {
  const { body } = await importing.clickhouse.stream(
    {
      sql: `SELECT * FROM format(JSONEachRow, {structure:String}, {rows:String}) FORMAT Parquet`,
      params: { structure: ga4Structure, rows: readFileSync(join(fixtures, 'ga4.ndjson'), 'utf8') },
    },
    'Parquet',
  )
  const path = importing.write('ga4.parquet', await buffer(body))
  const ended = await importing.importExport('ga4', [path])
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 0, duplicates: 9, rows: 4 }])
})

test('GA4: --host names the site of events without a page, such as those of servers', async () => {
  const before = await idsNow()
  const path = copied('ga4.ndjson', 'servers.ndjson')
  const ended = await importing.importExport('ga4', ['--host', 'shop.example', path])
  expect(countsOf(ended)).toEqual({ events: 1, duplicates: 9, rows: 3 })
  expect(await storedSince(before)).toMatchObject([{ page_url: 'https://shop.example/' }])
})

test('Matomo: the actions of visits become events; other sites are skipped', async () => {
  const before = await idsNow()
  const ended = await importing.importExport('matomo', ['--site', '3', copied('matomo.json')])
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 9, duplicates: 0, rows: 2 }])
  const rows = await storedSince(before)
  const [first, event, second, search, download, outlink, goal, order, home] = rows
  expect(first).toMatchObject({
    event_type: 'page_view',
    referrer_url: 'https://www.google.com/',
    client_ip: '81.2.69.0',
    browser: 'Chrome',
    os: 'Android',
    device_type: 'mobile',
    country: 'DE',
    city: 'Berlin',
    screen_width: 412,
    event_data: { title: 'Shoes [sale], "new"' },
  })
  expect(event!.event_data).toMatchObject({
    name: 'Video Play',
    properties: { name: 'Intro', value: 3 },
  })
  expect(second).toMatchObject({ referrer_url: 'https://shop.example/shoes?pk_campaign=spring' })
  expect(search!.event_data).toMatchObject({ query: 'boots', results_count: 7 })
  expect(download!.event_data).toMatchObject({
    url: 'https://shop.example/search?q=boots',
    filename: 'sizes.pdf',
  })
  expect(outlink!.event_data).toMatchObject({
    link: 'outbound',
    element: { href: 'https://partner.example/out' },
  })
  expect(goal!.event_data).toMatchObject({ name: 'goal', properties: { goal_name: 'Signup' } })
  expect(order!.event_data).toMatchObject({ name: 'order', properties: { order_id: 'A-17' } })
  expect(home).toMatchObject({ client_ip: null, country: null, city: null, device_type: 'desktop' })
  expect(reasonsOf('matomo.json').map(([, reason]) => reason)).toEqual([
    'Footfall has no event for actions of type "content"',
    'idSite is not 3',
  ])
})

test('Matomo: one visit a line, in gzip, gives the same events', async () => {
  const visits: object[] = JSON.parse(readFileSync(join(fixtures, 'matomo.json'), 'utf8'))
  const lines = visits.map((visit) => JSON.stringify(visit)).join('\n')
  const path = importing.write('matomo.ndjson.gz', gzipSync(lines))
  const ended = await importing.importExport('matomo', ['--site', '3', path])
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 0, duplicates: 9, rows: 2 }])
})

test('Matomo: actions without an address happened on a page of the visit', async () => {
  const before = await idsNow()
  const second = Date.UTC(2024, 2, 11) / 1_000
  const visit = (idVisit: number, actionDetails: object[]) => ({
    idSite: 3,
    idVisit,
    visitorId: 'b0b0b0b0b0b0b0b0',
    referrerUrl: 'https://www.google.com/',
    actionDetails: actionDetails.map((action, index) => ({ timestamp: second + index, ...action })),
  })
  const order = { type: 'ecommerceOrder', orderId: 'B-1', revenue: 5 }
  const event = { type: 'event', eventCategory: 'Movie', eventAction: 'play' }
  const visits = [
    visit(901, [
      order,
      { type: 'outlink', url: 'https://partner.example/' },
      { type: 'action', url: 'https://shop.example/thanks' },
    ]),
    visit(902, [
      { ...event, url: 'https://shop.example/movies' },
      { ...event, url: '' },
    ]),
    visit(903, [order, { type: 'download', url: 'https://shop.example/a.pdf' }]),
  ]
  const path = importing.write('addresses.json', JSON.stringify(visits))
  const ended = await importing.importExport('matomo', [path])
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 6, duplicates: 0, rows: 1 }])
  expect(reasonsOf(path)).toEqual([
    [3, 'the ecommerceOrder has no url: name the host of the site with --host'],
  ])
  await importing.importExport('matomo', ['--host', 'shop.example', path])
  const rows = await storedSince(before)
  const pages = rows.map(({ event_type, page_url }) => `${event_type} ${page_url}`)
  expect(pages.toSorted()).toEqual([
    'click https://shop.example/thanks',
    'custom https://shop.example/',
    'custom https://shop.example/movies',
    'custom https://shop.example/movies',
    'custom https://shop.example/thanks',
    'download https://shop.example/a.pdf',
    'page_view https://shop.example/thanks',
  ])
  expect(rows.find(({ event_type }) => event_type === 'page_view')).toMatchObject({
    referrer_url: 'https://www.google.com/',
  })
})

test('Umami: website_event as CSV', async () => {
  const before = await idsNow()
  const ended = await importing.importExport('umami', ['--site', site, copied('umami.csv')])
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 2, duplicates: 0, rows: 3 }])
  const [view, signup] = await storedSince(before)
  expect(view).toMatchObject({
    event_id: '018e2a50-0001-7000-8000-000000000001',
    cookie_id: '5d0c9a52-8a7e-5b2b-9d3c-1a2b3c4d5e6f',
    timestamp: '2024-03-10T12:00:00.000Z',
    page_url: 'https://shop.example/shoes?utm_source=news',
    referrer_url: 'https://search.example/search?q=shoes',
    browser: 'Chrome',
    device_type: 'desktop',
    country: 'US',
    region: 'US-CA',
    screen_width: 1920,
  })
  expect(signup!.event_data).toMatchObject({ name: 'signup', properties: { tag: 'test-b' } })
  expect(reasonsOf('umami.csv')).toEqual([
    [4, `website_id is not ${site}`],
    [5, 'hostname is empty: name the host of the site with --host'],
    [6, 'Footfall has no event for event_type 3'],
  ])
})

/** The query of the guide, whose result \\copy writes as CSV. */
const queryOfGuide = (): string => {
  const guide = readFileSync(join(packageRoot, 'collector/docs/migrating.md'), 'utf8')
  const [, query] = /\\copy \((SELECT .*?)\) TO 'umami.csv'/.exec(guide)!
  return query!.replace('WEBSITE_ID', site)
}

/** What Umami stores about a visit. */
const umamiTables = `
  CREATE SCHEMA umami;
  SET search_path = umami;
  CREATE TABLE session (session_id uuid, website_id uuid, browser text, os text, device text, screen text,
    language text, country text, region text, city text, created_at timestamptz, distinct_id text);
  CREATE TABLE website_event (event_id uuid, website_id uuid, session_id uuid, created_at timestamptz, url_path text,
    url_query text, referrer_path text, referrer_query text, referrer_domain text, page_title text,
    event_type integer, event_name text, visit_id uuid, tag text, hostname text);
  CREATE TABLE event_data (event_data_id uuid, website_id uuid, website_event_id uuid, data_key text,
    string_value text, number_value numeric(19,4), date_value timestamptz, data_type integer, created_at timestamptz);
  INSERT INTO session VALUES ('9d0c9a52-8a7e-5b2b-9d3c-1a2b3c4d5e6f', '${site}', 'ios', 'iOS', 'mobile', '390x844',
    'de-DE', 'DE', 'DE-BE', 'Berlin', '2024-03-10 12:00:00.25+00', NULL);
  INSERT INTO website_event (event_id, website_id, session_id, created_at, url_path, page_title, event_type, event_name, hostname)
  SELECT ('018e2a60-0000-7000-8000-00000000000' || n)::uuid,
    CASE n WHEN 3 THEN 'ffffffff-6f0d-4a53-9c7c-1d1f7d6c2b10' ELSE '${site}' END::uuid,
    '9d0c9a52-8a7e-5b2b-9d3c-1a2b3c4d5e6f', '2024-03-10 12:00:00.25+00'::timestamptz + n * interval '1 second',
    '/copied', 'A "title", new', CASE n WHEN 2 THEN 2 ELSE 1 END, CASE n WHEN 2 THEN 'signup' END, 'shop.example'
  FROM generate_series(1, 3) n;
  INSERT INTO event_data (website_event_id, data_key, string_value, number_value, data_type)
  VALUES ('018e2a60-0000-7000-8000-000000000002', 'plan', 'pro', NULL, 1),
    ('018e2a60-0000-7000-8000-000000000002', 'price', '59.9', 59.9, 2),
    ('018e2a60-0000-7000-8000-000000000002', 'newsletter', 'true', NULL, 3)`

test('Umami: the query of the guide has the columns of the session and the data of events', async () => {
  const client = await importing.postgres.connect()
  let rows: Record<string, string | null>[]
  try {
    await client.query(umamiTables)
    // As texts, as in CSV.
    const { rows: found } = await client.query(
      `SELECT (SELECT json_object_agg(key, value) FROM jsonb_each_text(to_jsonb(found))) AS row FROM (${queryOfGuide()}) found`,
    )
    rows = found.map(({ row }) => row)
  } finally {
    await client.query('DROP SCHEMA umami CASCADE')
    client.release(true)
  }
  expect(rows).toHaveLength(2)
  const quoted = (text: string | null) => (text === null ? '' : `"${text.replaceAll('"', '""')}"`)
  const lines = [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]
  const path = importing.write(
    'copied.csv',
    lines.map((line) => `${line.map(quoted).join(',')}\n`).join(''),
  )
  const before = await idsNow()
  const ended = await importing.importExport('umami', ['--site', site, path])
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 2, duplicates: 0, rows: 0 }])
  const [view, signup] = await storedSince(before)
  expect(view).toMatchObject({
    timestamp: '2024-03-10T12:00:01.250Z',
    browser: 'Mobile Safari',
    device_type: 'mobile',
    city: 'Berlin',
    region: 'DE-BE',
    event_data: { title: 'A "title", new' },
  })
  expect(signup!.event_data).toMatchObject({
    name: 'signup',
    properties: { plan: 'pro', price: 59.9, newsletter: true },
  })
})

test('errors name the option or the file', async () => {
  const noSite = await importing.runLine([
    ...['import', 'umami', '--pixel', importing.first.pixelId],
    copied('umami.csv', 'again.csv'),
  ])
  expect([noSite.code, noSite.stderr]).toEqual([
    1,
    expect.stringContaining('--site must be the UUID of the website in Umami (website_id)'),
  ])
  const mapped = await importing.importExport('ga4', ['--map', 'a=name', copied('ga4.ndjson')])
  expect(mapped.stderr).toContain(
    '--map, --ignore-unknown and --from-project belong to footfall-server events import',
  )
})

const value =
  'Tuple(string_value Nullable(String), int_value Nullable(Int64), float_value Nullable(Float64), double_value Nullable(Float64))'
const ga4Structure = [
  'event_date String, event_timestamp Int64, event_name String',
  `event_params Array(Tuple(key String, value ${value}))`,
  'event_bundle_sequence_id Int64, batch_event_index Int64, platform String, stream_id String',
  'user_pseudo_id Nullable(String)',
  'device Tuple(category Nullable(String), operating_system Nullable(String), operating_system_version Nullable(String), language Nullable(String), web_info Tuple(browser Nullable(String), browser_version Nullable(String), hostname Nullable(String)))',
  'geo Tuple(city Nullable(String), country Nullable(String), region Nullable(String))',
].join(', ')
