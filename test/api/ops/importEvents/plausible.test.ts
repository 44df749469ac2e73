/** `npx footfall-server import plausible`: daily figures, which the API states apart from the project's own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rebuildHits } from '../../../../collector/analytics/hits/rebuildHits.ts'
import { type Importing, openImporting } from './harness.ts'

let importing: Importing
beforeAll(async () => {
  importing = await openImporting()
  importing.write('imported_visitors_20230130_20230203.csv', visitors)
  importing.write('imported_pages_20230130_20230203.csv', pages)
  importing.write('imported_sources_20230130_20230203.csv', sources)
})
afterAll(() => importing.close())

const visitors = `"date","visitors","pageviews","bounces","visits","visit_duration"
"2023-01-30",10,25,4,12,900
"2023-01-31",20,50,9,24,1800
"2023-02-01",5,9,2,6,300
"01.02.2023",5,9,2,6,300
"2023-02-02",-1,9,2,6,300
`
const pages = `"date","hostname","page","visits","visitors","pageviews","total_scroll_depth","total_scroll_depth_visits","total_time_on_page","total_time_on_page_visits"
"2023-01-30","shop.example","/",8,7,15,320,6,210,7
"2023-01-30","www.shop.example","/",2,2,3,80,2,20,2
"2023-01-31","shop.example","/shoes, new",20,18,47,900,15,800,18
`
const sources = `"date","source","referrer","utm_source","utm_medium","utm_campaign","utm_content","utm_term","pageviews","visitors","visits","visit_duration","bounces"
"2023-01-30","Google","google.com","","","","","",15,7,8,500,3
"2023-01-30","","","","","","","",10,3,4,400,1
"2023-01-31","Newsletter","","news","email","spring","","",50,20,24,1800,9
`

const files = ['visitors', 'pages', 'sources'].map(
  (name) => `imported_${name}_20230130_20230203.csv`,
)
const run = (...args: string[]) =>
  importing.importExport('plausible', ['--project', importing.first.projectId, ...args])

async function figures(path: string, query: Record<string, string> = {}) {
  const { service, keys, first } = importing
  const window = { project_id: first.projectId, start_time: '2023-01-01', end_time: '2023-03-01' }
  const parameters = new URLSearchParams({ ...window, ...query })
  const answer = await fetch(`${service.url}/api/v1/analytics/${path}?${parameters}`, {
    headers: keys.first,
  })
  expect(answer.status).toBe(200)
  return answer.json()
}

test('a dry run shows the mapping, and the API has nothing imported', async () => {
  const ended = await run('--dry-run', ...files)
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toMatch(/^ {2}imported_pages +page_path$/m)
  expect(ended.stdout).toContain('11 rows read')
  expect(ended.stdout).toContain('nothing was stored, 2023-01-30 to 2023-02-01')
  expect(importing.skipped(files[0]!)).toMatchObject([
    { line: 5, reason: 'date must be a day, such as 2023-01-31' },
    { line: 6, reason: 'visitors must be an integer of at least 0' },
  ])
  expect(await figures('overview')).not.toHaveProperty('imported')
})

test('the figures are apart from the own ones; a repeated import replaces them', async () => {
  for (let times = 0; times < 2; times++) expect((await run(...files)).code).toBe(0)
  const { overview, imported } = await figures('overview')
  expect(overview).toMatchObject({ visitors: 0, page_views: 0 })
  expect(imported).toEqual({
    source: 'plausible',
    first_day: '2023-01-30',
    last_day: '2023-02-01',
    visitors: 35,
    page_views: 84,
    sessions: 42,
  })
  const series = await figures('timeseries', { interval: 'month' })
  expect(series.imported).toEqual({
    source: 'plausible',
    points: [
      { start_ms: Date.UTC(2023, 0), visitors: 30, page_views: 75, sessions: 36 },
      { start_ms: Date.UTC(2023, 1), visitors: 5, page_views: 9, sessions: 6 },
    ],
  })
  const { breakdowns } = await figures('breakdown', { dimensions: 'page_path,source,utm_campaign' })
  expect(breakdowns.page_path.imported.values).toEqual([
    { value: '/shoes, new', visitors: 18, page_views: 47, sessions: 20 },
    { value: '/', visitors: 9, page_views: 18, sessions: 10 },
  ])
  expect(breakdowns.source.imported.values.map(({ value }: { value: string }) => value)).toEqual([
    'Newsletter',
    'Google',
    'Direct',
  ])
  expect(breakdowns.utm_campaign.imported.values).toHaveLength(1)
})

test('only complete days of the window count, without filters, and never another tenant’s', async () => {
  const part = { start_time: '2023-01-30T12:00:00.000Z', end_time: '2023-02-01T12:00:00.000Z' }
  const { imported } = await figures('overview', part)
  expect(imported).toMatchObject({ first_day: '2023-01-31', last_day: '2023-01-31', visitors: 20 })
  expect(await figures('overview', { filter: 'country:eq:DE' })).not.toHaveProperty('imported')
  const { service, keys } = importing
  const query = new URLSearchParams({ start_time: '2023-01-01', end_time: '2023-03-01' })
  const other = await fetch(`${service.url}/api/v1/analytics/overview?${query}`, {
    headers: keys.second,
  })
  expect([other.status, await other.json()]).toEqual([
    200,
    expect.not.objectContaining({ imported: expect.anything() }),
  ])
})

test('days from the first event on are the project’s own', async () => {
  const old = {
    event_type: 'page_view',
    timestamp: '2023-01-31T10:00:00.000Z',
    cookie_id: '3e893ef1-fff9-4ea1-a85b-3fdd5ea53f83',
    page_url: 'https://shop.example/',
    screen_width: 1_920,
    viewport_width: 1_600,
    title: 'Shop',
  }
  const path = importing.write('own.ndjson', `${JSON.stringify(old)}\n`)
  expect((await importing.importFiles([path])).code).toBe(0)
  await rebuildHits(importing.clickhouse, [importing.first.projectId])
  const { overview, imported } = await figures('overview')
  expect(overview).toMatchObject({ visitors: 1, page_views: 1 })
  expect(imported).toMatchObject({ last_day: '2023-01-30', visitors: 10 })
})

test('a file of another name, and an unknown project, are refused', async () => {
  const path = importing.write('visitors.csv', visitors)
  const named = await run(path)
  expect([named.code, named.stderr]).toEqual([
    1,
    expect.stringContaining('Unpack the ZIP file first'),
  ])
  const unknown = await importing.runLine([
    ...['import', 'plausible', '--project'],
    '3e893ef1-fff9-4ea1-a85b-3fdd5ea53f83',
    files[0]!,
  ])
  expect(unknown.stderr).toContain('there is no project 3e893ef1-fff9-4ea1-a85b-3fdd5ea53f83')
})
