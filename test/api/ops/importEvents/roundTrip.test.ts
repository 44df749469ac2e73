/** An export of Footfall, imported into a new project, gives the same figures. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rebuildHits } from '../../../../collector/analytics/hits/rebuildHits.ts'
import { chrome, type Row } from '../../../harness/api.ts'
import { seededNumbers } from '../../analytics/seededNumbers.ts'
import { ndjson } from '../../identity/harness.ts'
import { countsOf, type Importing, openImporting } from './harness.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const start = Math.floor(Date.now() / dayMs) * dayMs - 12 * dayMs

const agents = [
  chrome,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Mozilla/5.0 (Linux; Android 11; BRAVIA 4K GB) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
]
const referrers = [
  null,
  'https://www.google.com/',
  'https://news.ycombinator.com/item?id=1',
  'https://accounts.google.com/signin',
  'https://partner.example/a?b=c',
  'https://100dollars-seo.com/',
  'https://shop.example/',
]
const queries = [
  '',
  '',
  '?utm_source=newsletter&utm_medium=email&utm_campaign=spring',
  '?gclid=Cj0K',
  '?utm_source=reddit-ads',
  '?utm_source=bing&utm_medium=cpc&utm_term=mugs&utm_content=a',
]
const paths = ['/', '/mugs', '/mugs/blue', '/basket', '/thanks']
const addresses = ['81.2.69.160', '2.125.160.216', null]
const gaps = [0, 1, 4_000, 90_000, 9 * minuteMs, 29 * minuteMs, 31 * minuteMs, 20 * 60 * minuteMs]

type Below = (limit: number) => number

/** The events of a visitor, as a file of another tool has them. Some visits begin with a click or a custom event. */
function visitorRows(below: Below): Row[] {
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!
  const visitor = {
    cookie_id: randomUUID(),
    user_agent: pick(agents),
    client_ip: pick(addresses),
    language: pick(['en-GB', 'de', null]),
  }
  let at = start + below(9 * dayMs)
  let page = {
    url: `https://shop.example${pick(paths)}${pick(queries)}`,
    referrer: pick(referrers),
  }
  return Array.from({ length: 1 + below(14) }, () => {
    at += pick(gaps)
    const kind = below(5)
    if (kind < 3)
      page = {
        url: `https://shop.example${pick(paths)}${pick(queries)}`,
        referrer: pick(referrers),
      }
    const { url, referrer } = page
    const timestamp = new Date(at).toISOString()
    const row = { event_id: randomUUID(), ...visitor, timestamp, referrer_url: referrer }
    if (kind < 3)
      return {
        ...row,
        event_type: 'page_view',
        event_data: {
          url,
          title: 'Mugs',
          referrer,
          screen: { height: 1080, width: 1920 },
          viewport: { height: 900, width: 1600 },
          timestamp,
        },
      }
    if (kind === 3)
      return {
        ...row,
        event_type: 'custom',
        event_data: {
          url,
          name: pick(['Ordered', 'Asked']),
          properties: { total: below(90) + 0.5, number: 9_007_199_254_740_993n.toString() },
          timestamp,
        },
      }
    return {
      ...row,
      event_type: 'scroll_depth',
      event_data: { url, percentage: 80, threshold: 75, timestamp },
    }
  })
}

let importing: Importing
let targets: Record<'first' | 'ndjson' | 'csv', { projectId: string; pixelId: string }>
let events = 0

beforeAll(async () => {
  importing = await openImporting()
  const { first, second, foreign } = importing
  targets = { first, ndjson: second, csv: foreign }
  const below = seededNumbers(59)
  const rows = Array.from({ length: 150 }, () => visitorRows(below)).flat()
  const path = importing.write('history.ndjson', ndjson(rows))
  const ended = await importing.importFiles([path])
  expect([ended.stderr, countsOf(ended)]).toEqual([
    '',
    { events: rows.length, duplicates: 0, rows: 0 },
  ])
  events = rows.length + (await insertJudgedOtherwise())
})
afterAll(() => importing.close())

/** Stores events as an earlier version did, whose lists of browsers and bots were others. Returns their number. */
async function insertJudgedOtherwise(): Promise<number> {
  const { clickhouse, first } = importing
  const stored = await clickhouse.rows<Row>({
    sql: `SELECT * EXCEPT (spool_id, seq), toString(cookie_id) AS cookie_id FROM events
          WHERE project_id = {projectId:UUID} AND cookie_id IN (
            SELECT DISTINCT cookie_id FROM events WHERE project_id = {projectId:UUID} ORDER BY cookie_id LIMIT 20)`,
    params: { projectId: first.projectId },
  })
  const visitors = new Map(stored.map(({ cookie_id }) => [cookie_id, randomUUID()]))
  const judged = stored.map((row) => ({
    ...row,
    event_id: randomUUID(),
    cookie_id: visitors.get(row.cookie_id),
    browser: 'Mosaic',
    os: 'OS/2',
    is_bot: !row.is_bot,
    bot_reason: row.is_bot ? null : 'user agent: Mosaic',
    country: 'FR',
    region: null,
    // The pixel sends it with each event.
    referrer_url: row.referrer_url ?? 'https://elsewhere.example/',
  }))
  await importing.insert(judged)
  return judged.length
}

const windowOf = (projectId: string) => ({
  project_id: projectId,
  start_ms: `${start}`,
  end_ms: `${start + 12 * dayMs}`,
})

async function figuresOf(projectId: string) {
  const key = importing.keys
  const owner = projectId === importing.foreign.projectId ? key.foreign : key.organization
  const get = async (path: string, query: Record<string, string>) => {
    const answer = await importing.ask(
      `/api/v1/analytics/${path}`,
      { ...windowOf(projectId), ...query },
      owner,
    )
    expect([path, answer.status, answer.body.error]).toEqual([path, 200, undefined])
    const { meta: _, ...figures } = answer.body
    return figures
  }
  const figures: Record<string, unknown> = {}
  for (const include_bots of ['false', 'true']) {
    figures[`overview, bots ${include_bots}`] = await get('overview', { include_bots })
    figures[`days, bots ${include_bots}`] = await get('timeseries', {
      include_bots,
      interval: 'day',
      include: 'sessions',
    })
    for (const dimensions of [
      'channel,source,referrer_host,utm_source,utm_medium,utm_campaign,utm_term,utm_content',
      'entry_page,exit_page,page_path,country,region,city,language',
      'device_type,browser,os,event_type,event_data.name',
    ])
      figures[`${dimensions}, bots ${include_bots}`] = await get('breakdown', {
        include_bots,
        dimensions,
        limit: '1000',
      })
  }
  return figures
}

async function exported(accept: string): Promise<Buffer> {
  const { service, keys, first } = importing
  const query = { project_id: first.projectId, start_ms: `${start}`, limit: '10000' }
  const answer = await fetch(
    `${service.url}/api/v3/events/web_event?${new URLSearchParams(query)}`,
    { headers: { ...keys.organization, accept } },
  )
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

test('sessions, views, channels, bounces and durations of each day are those of the first project', async () => {
  const formats = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const
  for (const [format, accept] of Object.entries(formats)) {
    const path = importing.write(`export.${format}`, await exported(accept))
    const { pixelId } = targets[format as keyof typeof formats]
    const options = ['--pixel', pixelId, '--from-project', targets.first.projectId]
    const ended = await importing.importFiles([...options, path])
    expect([ended.stderr, importing.skipped(path), countsOf(ended)]).toEqual([
      '',
      [],
      { events, duplicates: 0, rows: 0 },
    ])
  }
  await rebuildHits(
    importing.clickhouse,
    Object.values(targets).map(({ projectId }) => projectId),
  )
  const expected = flat(await figuresOf(targets.first.projectId))
  expect(expected.size).toBeGreaterThan(1_000)
  for (const { projectId } of [targets.ndjson, targets.csv]) {
    const found = flat(await figuresOf(projectId))
    const others = [...new Set([...expected.keys(), ...found.keys()])]
      .filter((name) => expected.get(name) !== found.get(name))
      .map((name) => [name, expected.get(name), found.get(name)])
    expect(others).toEqual([])
  }
}, 300_000)

/** Each figure by its place: those of a breakdown by their value, whose order may differ where counts are equal. */
function flat(part: unknown, place = '', figures = new Map<string, unknown>()) {
  if (typeof part !== 'object' || part === null) return figures.set(place, part)
  for (const [name, value] of Object.entries(part)) {
    const key = Array.isArray(part) && 'value' in value ? value.value : name
    flat(value, `${place}/${key}`, figures)
  }
  return figures
}
