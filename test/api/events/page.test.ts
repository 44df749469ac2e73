import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { marketingFields } from '../../../schemas/fields/marketing.ts'
import { visitFields } from '../../../schemas/fields/visit.ts'
import { fieldsAt } from '../../../schemas/fields.ts'
import { eventOf, openEvents, organizationId, pixelId, projectId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const minute = 60_000
const hour = 60 * minute

const view = eventOf(now, 1 * minute, {
  cookie_id: '00000000-0000-4000-8000-00000000000a',
  referrer_url: 'https://search.example/',
  user_agent: 'Test/1.0',
  page_host: 'shop.example',
  page_path: '/',
  browser: 'Chrome',
  event_data: '{"url":"https://shop.example/","title":"Café 😀"}',
})
const click = eventOf(now, 2 * minute, {
  event_type: 'click',
  cookie_id: view.cookie_id,
  is_bot: true,
})
const spring = eventOf(now, 3 * minute, {
  project_id: randomUUID(),
  pixel_id: randomUUID(),
  campaign_id: 'spring, 2026',
})
/** Read only where campaigns are spoken of. */
const dsp = eventOf(now, 2 * minute, { source: 'svcdsp', event_type: 'impression', spend: 0.0025 })
const old = eventOf(now, 30 * hour)
const foreign = eventOf(now, 1 * minute, { organization_id: randomUUID() })

beforeAll(async () => {
  events = await openEvents()
  await events.insert([old, click, view, spring, dsp, foreign])
  await events.insert([eventOf(now, minute, { page_url: 'https://sample.example/' })], 'test')
})
afterAll(() => events.close())

const idsOf = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)
const ids = async (query: Record<string, string>, headers = {}) =>
  idsOf((await events.page(query, headers)).rows)

describe('a page', () => {
  test('holds the last 24 hours of the organization, newest first, with every field of the tier', async () => {
    const answer = await events.get('events/web_event')
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    const { rows, meta } = answer.json()
    expect(idsOf(rows)).toEqual(idsOf([view, click, spring]))
    expect(Object.keys(rows[0])).toEqual(fieldsAt('web_event').map(({ name }) => name))
    const { spool_id, organization_id, ...stored } = view
    expect(rows[0]).toEqual({
      ...Object.fromEntries([...marketingFields, ...visitFields].map(({ name }) => [name, null])),
      ...stored,
      referrer_host: 'search.example',
      timestamp: new Date(now - minute).toISOString(),
      resolved: false,
      source: 'pixel',
      campaign_id: null,
      spend: null,
      browser_version: null,
      os: null,
      os_version: null,
      is_bot: false,
      bot_reason: null,
    })
    expect(meta).toEqual({
      tier: 'web_event',
      meter: 'events',
      records: 3,
      charged: 3,
      start_ms: meta.end_ms - 24 * hour,
      order: 'desc',
      complete_until: null,
      end_ms: expect.any(Number),
      has_more: false,
      request_id: expect.any(String),
    })
    expect(meta.end_ms).toBeGreaterThanOrEqual(now)
  })

  test('without rows is an empty list', async () => {
    const { rows, meta } = await events.page({ start_ms: '1', end_ms: '2' })
    expect(rows).toEqual([])
    expect(meta).toMatchObject({ records: 0, has_more: false, start_ms: 1, end_ms: 2 })
  })

  test('has the columns that select names, in its order', async () => {
    const { rows } = await events.page({ select: 'page_url,event_type,is_bot', limit: '2' })
    expect(rows.map((row) => JSON.stringify(row))).toEqual([
      '{"page_url":"https://shop.example/","event_type":"page_view","is_bot":false}',
      '{"page_url":"https://shop.example/","event_type":"click","is_bot":true}',
    ])
  })

  test('keeps the newest of what distinct makes equal', async () => {
    expect(await ids({ distinct: 'cookie_id' })).toEqual(idsOf([view, spring]))
    expect(await ids({ distinct: 'cookie_id,event_type' })).toEqual(idsOf([view, click, spring]))
    expect(await ids({ distinct: 'campaign_id' })).toEqual(idsOf([view, spring]))
  })

  test('is limited', async () => {
    const { rows, meta } = await events.page({ limit: '2' })
    expect(idsOf(rows)).toEqual(idsOf([view, click]))
    expect(meta).toMatchObject({ records: 2, has_more: true })
  })

  test('is scoped by project, pixel, campaign and source', async () => {
    expect(await ids({ project_id: projectId })).toEqual(idsOf([view, click]))
    expect(await ids({ project_id: projectId.toUpperCase() })).toEqual(idsOf([view, click]))
    expect(await ids({}, { 'x-project-id': projectId })).toEqual(idsOf([view, click]))
    expect(await ids({ project_id: projectId }, { 'x-project-id': projectId })).toEqual(
      idsOf([view, click]),
    )
    expect(await ids({ pixel_id: pixelId })).toEqual(idsOf([view, click]))
    expect(await ids({ campaign_id: 'spring, 2026' })).toEqual(idsOf([spring]))
    expect(await ids({ source: 'svcdsp' })).toEqual(idsOf([dsp]))
    expect(await ids({ source: 'pixel' })).toEqual(idsOf([view, click, spring]))
    expect(await ids({ filter: 'spend:gt:0.002' })).toEqual(idsOf([dsp]))
    expect(await ids({ filter: 'spend:eq:0.0025' })).toEqual(idsOf([dsp]))
    expect(await ids({ filter: 'spend:lt:0.0025' })).toEqual([])
  })

  test('starts with its window and ends before the window does', async () => {
    const at = now - 2 * minute
    expect(await ids({ start_ms: String(at), end_ms: String(at + 1) })).toEqual(idsOf([click]))
    expect(await ids({ start_ms: String(at - 1), end_ms: String(at) })).toEqual([])
    const iso = (ms: number) => new Date(ms).toISOString()
    expect(await ids({ start_time: iso(at), end_time: iso(at + 1) })).toEqual(idsOf([click]))
    expect(await ids({ end_ms: String(now - 29 * hour) })).toEqual(idsOf([old]))
    expect(await ids({ start_time: iso(now - 31 * hour) })).toEqual(
      idsOf([view, click, spring, old]),
    )
  })

  test('comes from the sample database for a test key', async () => {
    const answer = await events.get(
      'events/web_event',
      { select: 'page_url' },
      { 'x-test-mode': 'test' },
    )
    expect(answer.json().rows).toEqual([{ page_url: 'https://sample.example/' }])
  })

  test('never shows another organization’s events', async () => {
    const { rows } = await events.page({ start_ms: '0', filter: `event_id:eq:${foreign.event_id}` })
    expect(rows).toEqual([])
    expect(organizationId).not.toBe(foreign.organization_id)
  })
})

describe('a page in other forms', () => {
  const text = async (accept: string, query: Record<string, string>) => {
    const answer = await events.get('events/web_event', query, { accept })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers.vary).toBe('accept, Accept-Encoding')
    const { 'x-footfall-records': records, 'x-footfall-has-more': hasMore } = answer.headers
    return { body: answer.body, type: answer.headers['content-type'], records, hasMore }
  }

  test('as NDJSON is the same rows as lines', async () => {
    const { rows } = await events.page()
    expect(await text('application/x-ndjson', {})).toEqual({
      body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      type: 'application/x-ndjson; charset=utf-8',
      records: '3',
      hasMore: 'false',
    })
  })

  test('as CSV has a line of names first', async () => {
    expect(await text('text/csv', { select: 'event_type,campaign_id,is_bot,ts_millis' })).toEqual({
      body: `"event_type","campaign_id","is_bot","ts_millis"
"page_view",,false,${view.ts_millis}
"click",,true,${click.ts_millis}
"page_view","spring, 2026",false,${spring.ts_millis}
`,
      type: 'text/csv; charset=utf-8',
      records: '3',
      hasMore: 'false',
    })
  })

  test('as CSV has texts that a spreadsheet would run with an apostrophe in front, where that is asked for', async () => {
    const starts = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '＝1+1',
      '\t=1',
      '\r=1',
      '\n=1',
      "'=1",
      'a=1',
      '',
      '=\u00e9"x",\n=2',
    ]
    const rows = starts.map((page_url, index) =>
      eventOf(now, 90_000_000 + index, { page_url, event_data: page_url, campaign_id: null }),
    )
    await events.insert(rows)
    const query = {
      start_ms: String(now - 90_000_100),
      end_ms: String(now - 89_999_999),
      select: 'page_url,event_data,campaign_id,ts_millis',
    }
    const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`
    const csv = (written: (value: string) => string) =>
      `"page_url","event_data","campaign_id","ts_millis"\n${rows
        .map(
          (row) =>
            `${quoted(written(String(row.page_url)))},${quoted(written(String(row.page_url)))},,${row.ts_millis}\n`,
        )
        .join('')}`
    const kept = csv((value) => value)
    const escaped = csv((value) => (/^[=+\-@＝\t\r\n]/.test(value) ? `'${value}` : value))
    expect((await text('text/csv', query)).body).toBe(kept)
    expect((await text('text/csv', { ...query, csv_formulas: 'keep' })).body).toBe(kept)
    expect((await text('text/csv', { ...query, csv_formulas: 'escape' })).body).toBe(escaped)
    const { rows: asJson } = await events.page({ ...query, csv_formulas: 'escape' })
    expect(asJson.map(({ page_url }) => page_url)).toEqual(starts)
    const refused = await events.get('events/web_event', { csv_formulas: 'yes' })
    expect([refused.statusCode, refused.json().message]).toEqual([
      400,
      expect.stringContaining('csv_formulas'),
    ])
  })

  test('may be empty', async () => {
    const none = { start_ms: '1', end_ms: '2', select: 'event_id,page_url' }
    expect((await text('application/x-ndjson', none)).body).toBe('')
    expect(await text('text/csv', none)).toMatchObject({
      body: '"event_id","page_url"\n',
      records: '0',
    })
  })

  test('loses exactly the row too many', async () => {
    const query = { limit: '2', select: 'event_id' }
    expect(await text('text/csv', query)).toMatchObject({
      body: `"event_id"\n"${view.event_id}"\n"${click.event_id}"\n`,
      records: '2',
      hasMore: 'true',
    })
    expect(await text('application/x-ndjson', query)).toMatchObject({
      body: `{"event_id":"${view.event_id}"}\n{"event_id":"${click.event_id}"}\n`,
      hasMore: 'true',
    })
  })
})
