/** Files as people have them: other encodings and archives, names of other products, equal rows, missing values. */
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Row } from '../../../harness/api.ts'
import { csv, ndjson } from '../../identity/harness.ts'
import { countsOf, type Importing, openImporting, pageView } from './harness.ts'

let importing: Importing
beforeAll(async () => {
  importing = await openImporting()
})
afterAll(() => importing.close())

const columns =
  'event_type, event_data, timestamp, page_url, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, browser, browser_version, os, os_version, device_type, country, region, city, language'

/** The events that a call of `run` stores, in the order of their times. */
async function storedBy(run: () => Promise<unknown>): Promise<Row[]> {
  const ids = async () => await importing.stored(`toString(event_id) AS event_id, ${columns}`)
  const before = new Set((await ids()).map(({ event_id }) => event_id))
  await run()
  return (await ids()).filter(({ event_id }) => !before.has(event_id))
}

/** A row of GA4's BigQuery export. */
function ga4Row(params: Record<string, string | number>, more: Row = {}): Row {
  const event_params = Object.entries({
    page_location: 'https://shop.example/mugs',
    ...params,
  }).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { int_value: String(value) } : { string_value: value },
  }))
  return {
    event_timestamp: '1710072000000000',
    event_name: 'view_item',
    event_bundle_sequence_id: '7',
    user_pseudo_id: '12.34',
    platform: 'WEB',
    event_params,
    ...more,
  }
}

const importGa4 = (name: string, rows: Row[], ...options: string[]) =>
  importing.importExport('ga4', [...options, importing.write(name, ndjson(rows))])

test('GA4: rows that differ in a parameter or an item alone, and equal rows, are all imported, once', async () => {
  const rows = [
    ga4Row({ item_id: 'a' }),
    ga4Row({ item_id: 'b' }),
    ga4Row({}, { items: [{ item_id: 'a' }] }),
    ga4Row({}, { items: [{ item_id: 'b' }] }),
    ga4Row({ item_id: 'a' }),
  ]
  expect(countsOf(await importGa4('equal.ndjson', rows))).toMatchObject({
    events: 5,
    duplicates: 0,
  })
  const again = await importGa4('again.ndjson', rows)
  expect([again.code, countsOf(again)]).toEqual([
    0,
    expect.objectContaining({ events: 0, duplicates: 5 }),
  ])
})

test('equal rows without event_id are imported each, also by a second import only once', async () => {
  const { event_id: _, ...row } = pageView(11)
  const path = importing.write('equal.csv', csv([row, row]))
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 2, duplicates: 0 })
  expect(countsOf(await importing.importFiles([path]))).toMatchObject({ events: 0, duplicates: 2 })
})

test('GA4: the collected traffic source, click ids and the session’s campaign become parameters', async () => {
  const rows = await storedBy(() =>
    importGa4('campaigns.ndjson', [
      ga4Row(
        { n: 1 },
        {
          event_timestamp: '1710072001000000',
          collected_traffic_source: {
            manual_source: 'news',
            manual_medium: 'email',
            manual_campaign_name: 'spring_sale',
            manual_term: 'shoes & boots',
            manual_content: '(not set)',
          },
        },
      ),
      ga4Row(
        { page_location: 'https://shop.example/?utm_source=own#top' },
        {
          event_timestamp: '1710072002000000',
          collected_traffic_source: { manual_source: 'other', manual_medium: 'cpc', gclid: 'G1' },
        },
      ),
      ga4Row(
        { entrances: 1 },
        {
          event_name: 'page_view',
          event_timestamp: '1710072003000000',
          session_traffic_source_last_click: {
            manual_campaign: { source: 'x', medium: 'social', campaign_name: '(referral)' },
          },
        },
      ),
    ]),
  )
  expect(rows).toMatchObject(
    [
      {
        utm_source: 'news',
        utm_medium: 'email',
        utm_campaign: 'spring_sale',
        utm_term: 'shoes & boots',
        utm_content: null,
      },
      { utm_source: 'own', utm_medium: 'cpc', click_id_type: 'gclid', page_url: /#top$/ },
      { utm_source: 'x', utm_medium: 'social', utm_campaign: null },
    ].map((row) =>
      'page_url' in row ? { ...row, page_url: expect.stringMatching(row.page_url!) } : row,
    ),
  )
})

test('GA4: items and ecommerce are kept; the dry run names fields that are not', async () => {
  const items = [
    { item_id: 'M1', item_name: 'Mug', item_brand: '(not set)', price: 9.5, quantity: '2' },
  ]
  const row = ga4Row(
    { currency: 'EUR' },
    {
      event_name: 'purchase',
      event_timestamp: '1710072004000000',
      items,
      ecommerce: { transaction_id: 'T1', purchase_revenue: 19, refund_value: null },
      user_properties: [{ key: 'plan', value: { string_value: 'pro' } }],
      user_ltv: { revenue: null },
      geo: { country: 'Germany', metro: 'Berlin area' },
    },
  )
  const dry = await importGa4('bought.ndjson', [row], '--dry-run')
  expect(dry.stdout).toMatch(/^Fields not kept: user_properties, geo\.metro$/m)
  const [bought] = await storedBy(() => importGa4('bought.ndjson', [row]))
  expect(JSON.parse(String(bought!.event_data))).toMatchObject({
    name: 'purchase',
    properties: {
      currency: 'EUR',
      items: [{ item_id: 'M1', item_name: 'Mug', price: 9.5, quantity: 2 }],
      ecommerce: { transaction_id: 'T1', purchase_revenue: 19 },
    },
  })
})

const matomoVisit = (more: Row, action: Row = {}): Row => ({
  idSite: 3,
  idVisit: randomUUID(),
  visitorId: 'c4a9f7e2d1b03856',
  actionDetails: [
    { type: 'action', url: 'https://shop.example/', timestamp: 1_710_072_100, ...action },
    { type: 'action', url: 'https://shop.example/b', timestamp: 1_710_072_110, ...action },
  ],
  ...more,
})

const importMatomo = (name: string, visits: Row[]) =>
  importing.importExport('matomo', [importing.write(name, JSON.stringify(visits))])

test('Matomo: the campaign of a visit belongs to its first page; search engines without an address are sources', async () => {
  const campaign = {
    referrerType: 'campaign',
    referrerName: 'spring_sale',
    referrerKeyword: 'shoes',
  }
  const more = { campaignSource: 'news', campaignMedium: 'email' }
  const [first, second] = await storedBy(() =>
    importMatomo('campaign.json', [matomoVisit({ ...campaign, ...more })]),
  )
  expect(first).toMatchObject({
    utm_campaign: 'spring_sale',
    utm_term: 'shoes',
    utm_source: 'news',
    utm_medium: 'email',
  })
  expect(second).toMatchObject({ utm_campaign: null, page_url: 'https://shop.example/b' })
  const [searched] = await storedBy(() =>
    importMatomo('search.json', [
      matomoVisit({ referrerType: 'search', referrerName: 'Google', referrerUrl: '' }),
    ]),
  )
  expect(searched).toMatchObject({ utm_source: 'Google', utm_medium: 'organic' })
})

test('Umami: columns of campaigns and click ids, names of systems', async () => {
  const site = randomUUID()
  const row = {
    website_id: site,
    session_id: randomUUID(),
    event_id: randomUUID(),
    created_at: '2024-03-10 10:00:00+00',
    hostname: 'shop.example',
    url_path: '/',
    event_type: '1',
    utm_source: 'news',
    utm_campaign: 'spring',
    gclid: 'G2',
    browser: 'edge-chromium',
    os: 'Windows 10',
    device: 'laptop',
    country: 'XX',
    distinct_id: 'ann',
  }
  let ended: Awaited<ReturnType<Importing['importExport']>>
  const [stored] = await storedBy(async () => {
    const path = importing.write('names.csv', csv([row]))
    ended = await importing.importExport('umami', ['--site', site, path])
  })
  expect(stored).toMatchObject({
    timestamp: '2024-03-10T10:00:00.000Z',
    utm_source: 'news',
    utm_campaign: 'spring',
    click_id_type: 'gclid',
    browser: 'Edge',
    os: 'Windows',
    os_version: '10',
    device_type: 'desktop',
    country: null,
  })
  expect(ended!.stdout).toContain('Fields not kept: distinct_id')
})

test.each<[string, Row, Row]>([
  [
    'in German',
    {
      browserName: 'Unbekannt',
      browserCode: 'UNK',
      operatingSystemName: 'GNU/Linux',
      operatingSystemVersion: 'Unbekannt',
      deviceType: 'Tablet-PC',
      countryCode: 'xx',
      region: 'Unbekannt',
      city: 'Unbekannt',
    },
    {
      browser: null,
      os: 'Linux',
      os_version: null,
      device_type: 'tablet',
      country: null,
      city: null,
    },
  ],
  [
    'in French, with its icon',
    {
      browserName: 'Mobile Safari',
      operatingSystemName: 'Mac',
      deviceType: 'Ordinateur de bureau',
      deviceTypeIcon: 'plugins/Morpheus/icons/dist/devices/desktop.png',
      region: 'Inconnu',
    },
    { browser: 'Mobile Safari', os: 'Mac OS', device_type: 'desktop', region: null },
  ],
])('Matomo: names %s are Footfall’s own or none', async (name, visit, stored) => {
  const [row] = await storedBy(() => importMatomo(`${name}.json`, [matomoVisit(visit)]))
  expect(row).toMatchObject(stored)
})

test.each(['<Other>', 'Web'])('GA4: (not set) and a system of %s are none', async (system) => {
  const device = {
    category: 'smart tv',
    operating_system: system,
    language: '(not set)',
    web_info: { browser: 'Samsung Internet', browser_version: '<Other>' },
  }
  const geo = { country: '(not set)', region: '(not set)', city: '(not set)' }
  // Equal rows would be duplicates.
  const event_timestamp = String(1_710_072_005_000_000 + system.length * 1_000_000)
  const more = { device, geo, event_timestamp }
  const [row] = await storedBy(() => importGa4(`${system.length}.ndjson`, [ga4Row({}, more)]))
  expect(row).toMatchObject({
    browser: 'Samsung Internet',
    browser_version: null,
    os: null,
    device_type: 'smarttv',
    country: null,
    city: null,
    language: null,
  })
})

test('UTF-16 is read; an offset of hours and a name of 140 characters are too', async () => {
  const row = {
    event_type: 'custom',
    timestamp: '2024-11-20 10:00:00+00',
    cookie_id: randomUUID(),
    page_url: 'https://shop.example/ü',
    name: 'n'.repeat(140),
  }
  const text = `\ufeff${csv([row])}`
  const path = importing.write('utf16.csv', Buffer.from(text, 'utf16le'))
  let ended: Awaited<ReturnType<Importing['importFiles']>>
  const [stored] = await storedBy(async () => {
    ended = await importing.importFiles([path])
  })
  expect([ended!.code, ended!.stderr]).toEqual([0, ''])
  expect(stored).toMatchObject({ timestamp: '2024-11-20T10:00:00.000Z', page_url: row.page_url })
  expect(JSON.parse(String(stored!.event_data)).name).toBe('n'.repeat(100))
})

const view = { ...pageView(12), event_data: undefined, page_url: 'https://shop.example/ü' }

test.each<[string, Buffer, string]>([
  ['zipped.csv', Buffer.from('PK\x03\x04\x14\0\0\0', 'latin1'), 'is a ZIP file'],
  ['packed.ndjson', Buffer.from('BZh91AY&SY', 'latin1'), 'is a bzip2 archive'],
  ['latin.csv', Buffer.from('zurück,cookie_id\n', 'latin1'), 'iconv -f latin1 -t utf-8'],
  ['latinRows.ndjson', Buffer.from(ndjson([view]), 'latin1'), 'nothing was imported'],
  ['escape.csv', Buffer.from('\x1b[2J,cookie_id\n1,2\n'), 'no field is named "\\x1b[2J"'],
  ['empty.ndjson', Buffer.alloc(0), 'nothing was imported'],
  [
    'february.ndjson',
    Buffer.from(ndjson([{ ...view, timestamp: '2026-02-30T10:00:00Z' }])),
    'nothing was imported',
  ],
])('%s ends with exit 1 and says why', async (name, content, reason) => {
  const ended = await importing.importFiles([importing.write(name, content)])
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(reason)])
  if (name === 'february.ndjson')
    expect(importing.skipped(name)).toMatchObject([
      { reason: 'timestamp must be a date that exists' },
    ])
})

test('a file that ends early keeps its complete rows, and ends with exit 1', async () => {
  const rows = Array.from({ length: 400 }, () => pageView(13))
  const packed = gzipSync(ndjson(rows))
  const cut = importing.write('cut.ndjson.gz', packed.subarray(0, packed.length - 2_000))
  const ended = await importing.importFiles([cut])
  expect([ended.code, ended.stderr]).toEqual([
    1,
    expect.stringContaining('cut.ndjson.gz ends early'),
  ])
  const { events, rows: skipped } = countsOf(ended)
  expect([skipped, events! > 0]).toEqual([0, true])
  const plain = importing.write('plain.ndjson', ndjson(rows).slice(0, -50))
  const second = await importing.importFiles([plain])
  expect([second.code, second.stderr]).toEqual([
    1,
    expect.stringContaining('plain.ndjson ends early'),
  ])
  expect(countsOf(second)).toEqual({ events: 399 - events!, duplicates: events, rows: 1 })
  const array = JSON.stringify([matomoVisit({}), matomoVisit({})]).slice(0, -20)
  const path = importing.write('visits.json', array)
  const third = await importing.importExport('matomo', [path])
  expect([third.code, third.stderr]).toEqual([1, expect.stringContaining('visits.json ends early')])
})

test('a named pipe is read', async () => {
  const path = join(importing.directory, 'pipe.ndjson')
  const rows = [pageView(14), pageView(15)]
  importing.write('piped.ndjson', ndjson(rows))
  execFileSync('mkfifo', [path])
  // It waits until somebody reads the pipe.
  const feed = spawn('sh', ['-c', `cat piped.ndjson > ${path}`], { cwd: importing.directory })
  const ended = await importing.importFiles([path])
  feed.kill()
  expect([ended.stderr, countsOf(ended)]).toEqual(['', { events: 2, duplicates: 0, rows: 0 }])
})

test('an export of another project is imported if it is named, and refused otherwise', async () => {
  const { foreign } = importing
  const rows = [1, 2].map((n) =>
    pageView(16, {
      project_id: foreign.projectId,
      pixel_id: foreign.pixelId,
      country: 'GB',
      title: `${n}`,
    }),
  )
  const path = importing.write('project.ndjson', ndjson(rows))
  const refused = await importing.importFiles([path])
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('--from-project')])
  const ended = await importing.importFiles([path, '--from-project', foreign.projectId])
  expect(countsOf(ended)).toEqual({ events: 2, duplicates: 0, rows: 0 })
})

test('Plausible: a row without a value counts; names are Footfall’s own', async () => {
  const systems = `"date","operating_system","operating_system_version","visitors","visits","visit_duration","bounces","pageviews"
"2023-01-30","","",3,3,10,1,4
"2023-01-30","Mac","14",2,2,10,1,2
`
  const sources = `"date","source","referrer","pageviews","visitors","visits"
"2023-01-30","Youtube","",5,4,4
"2023-02-30","Youtube","",5,4,4
`
  const files = [
    importing.write('imported_operating_systems_20230130_20230203.csv', systems),
    importing.write('imported_sources_20230130_20230203.csv', sources),
  ]
  const { projectId } = importing.first
  const ended = await importing.importExport('plausible', ['--project', projectId, ...files])
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toMatch(/4 rows read, 3 values.*\n1 rows skipped/)
  expect(ended.stdout).toMatch(/^Fields not kept: .*operating_system_version/m)
  const stored = await importing.clickhouse.rows<Row>({
    sql: `SELECT dimension, value, toUInt32(visitors) AS visitors FROM imported_days FINAL
          WHERE project_id = {projectId:UUID} ORDER BY dimension, value`,
    params: { projectId },
  })
  expect(stored).toEqual([
    { dimension: 'os', value: '', visitors: 3 },
    { dimension: 'os', value: 'Mac OS', visitors: 2 },
    { dimension: 'source', value: 'YouTube', visitors: 4 },
  ])
})
