import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type VisitorTier,
  visitorTiers,
} from '../../../../collector/events/visitors/visitorsRequest.ts'
import { type Graph, profileAt } from '../../../../collector/identity/generate/index.ts'
import { fieldsAt } from '../../../../schemas/fields.ts'
import { eventOf, linkOf, openEvents, pixelId, projectId, type Row } from '../harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const graph: Graph = { seed: 3, companies: 50 }
const full = 'resolution_full_profile'

/** Who comes: two of one company, one of another, one of none, one without a profile, and a stranger. */
const company = { company_domain: 'one.example', company_name: 'One' }
const ada = { ...profileAt(graph, 0), ...company }
const ben = { ...profileAt(graph, 1), ...company }
const cyd = { ...profileAt(graph, 2), company_domain: 'two.example' }
const dot = { ...profileAt(graph, 3), company_domain: null }
const eve = { hem: randomBytes(32).toString('hex') }
const people = [ada, ben, cyd, dot, eve]
const cookies = people.map(() => randomUUID())
const adasPhone = randomUUID()
const otherPixel = randomUUID()
const campaign = {
  source: 'svcdsp',
  campaign_id: randomUUID(),
  pixel_id: '00000000-0000-0000-0000-000000000000',
}

const of = (index: number, agoMs: number, more: Row = {}) =>
  eventOf(now, agoMs, { cookie_id: cookies[index], ...more })
const stored = {
  adaNewest: of(0, 1_000, { cookie_id: adasPhone }),
  ada: of(0, 60_000),
  ben: of(1, 2_000),
  cyd: of(2, 3_000, { pixel_id: otherPixel }),
  dot: of(3, 4_000, { page_path: '/seen' }),
  dotLater: of(3, 3_500, { page_path: '/other' }),
  eve: of(4, 5_000),
  eveByCampaign: of(4, 500, campaign),
  stranger: eventOf(now, 100),
}

beforeAll(async () => {
  events = await openEvents()
  await events.insert(Object.values(stored))
  await events.know({
    links: [
      ...people.map(({ hem }, index) => linkOf(cookies[index], hem)),
      linkOf(adasPhone, ada.hem),
    ],
    profiles: [ada, ben, cyd, { ...dot, job_title: '=HYPERLINK("https://evil.example")' }],
  })
})
afterAll(() => events.close())

const required = {
  project_id: projectId,
  start_ms: String(now - 3_600_000),
  end_ms: String(now),
  limit: '10',
}
const get = (query: Record<string, string>, tier: string = full, headers = {}) =>
  events.get(`events/${tier}/visitors`, query, headers)
/** Visitors of the last hour, with what `query` changes; an empty value leaves a parameter out. */
async function visitors(query: Record<string, string> = {}, tier: VisitorTier = full) {
  const asked = Object.fromEntries(
    Object.entries({ ...required, ...query }).filter(([, value]) => value),
  )
  const answer = await get(asked, tier)
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json() as { visitors: Row[]; count: number; has_partial_data: boolean }
}
const idsOf = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)
const ids = (...rows: Row[]) => idsOf(rows)
const newest = ids(stored.adaNewest, stored.ben, stored.cyd, stored.dotLater, stored.eve)

describe.each(visitorTiers)('%s', (tier) => {
  test('has one row for each identified person: that of the newest event, most recent first', async () => {
    const answer = await visitors({}, tier)
    expect(answer).toEqual({
      visitors: expect.any(Array),
      count: 5,
      has_partial_data: false,
      meta: { meter: tier, records: 5, charged: 5 },
    })
    expect(idsOf(answer.visitors)).toEqual(newest)
    expect(answer.visitors.map(({ hem }) => hem)).toEqual(people.map(({ hem }) => hem))
  })

  test('has every field of the tier, exactly as the events of the tier route', async () => {
    const { rows } = await events.page({ filter: 'resolved:eq:true', distinct: 'hem' }, {}, tier)
    const answer = await visitors({}, tier)
    expect(answer.visitors).toEqual(rows)
    for (const row of answer.visitors)
      expect(Object.keys(row)).toEqual(fieldsAt(tier).map(({ name }) => name))
  })

  test('comes as NDJSON and CSV, too, with what the JSON says in headers', async () => {
    const json = await visitors({}, tier)
    const ndjson = await get(required, tier, { accept: 'application/x-ndjson' })
    expect(ndjson.body).toBe(json.visitors.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const csv = await get(required, tier, { accept: 'text/csv' })
    const lines = csv.body.trimEnd().split('\n')
    expect(lines[0]).toBe(
      fieldsAt(tier)
        .map(({ name }) => `"${name}"`)
        .join(','),
    )
    expect(lines).toHaveLength(6)
    expect(lines[1]).toContain(String(stored.adaNewest.event_id))
    for (const { headers } of [ndjson, csv]) {
      expect(headers).toMatchObject({
        'x-footfall-records': '5',
        'x-footfall-has-partial-data': 'false',
        'x-footfall-charged': '5',
        'x-footfall-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
    }
  })

  test('is charged a record for each visitor, on the meter of the tier', async () => {
    const before = await ledger()
    const { headers } = await get(required, tier)
    expect(headers['x-footfall-charged']).toBe('5')
    expect(await ledger()).toEqual({ ...before, [tier]: (before[tier] ?? 0) + 5 })
  })

  test('of nobody is an empty answer in every form, and costs nothing', async () => {
    const before = await ledger()
    const query = { ...required, start_ms: '1000', end_ms: '2000' }
    expect((await get(query, tier)).json()).toEqual({
      visitors: [],
      count: 0,
      has_partial_data: false,
      meta: { meter: tier, records: 0, charged: 0 },
    })
    expect((await get(query, tier, { accept: 'application/x-ndjson' })).body).toBe('')
    const csv = (await get(query, tier, { accept: 'text/csv' })).body
    expect(csv.trimEnd().split('\n')).toHaveLength(1)
    expect(csv).toContain('"event_id"')
    expect(await ledger()).toEqual(before)
  })
})

/** Records of each meter so far. */
async function ledger(): Promise<Record<string, number>> {
  const { rows } = await events.postgres.query<{ meter: string; records: number }>(
    'SELECT meter, sum(records)::int AS records FROM ledger GROUP BY meter',
  )
  return Object.fromEntries(rows.map(({ meter, records }) => [meter, records]))
}

test('CSV for spreadsheets runs no text of a profile as a formula', async () => {
  const query = { ...required, select: 'job_title,hem,ts_millis' }
  const csv = async (more: Record<string, string>) =>
    (await get({ ...query, ...more }, full, { accept: 'text/csv' })).body
  const title = '=HYPERLINK(""https://evil.example"")'
  expect(await csv({})).toContain(`\n"${title}","${dot.hem}",`)
  expect(await csv({ csv_formulas: 'escape' })).toContain(`\n"'${title}","${dot.hem}",`)
})

describe('limit', () => {
  test('keeps the most recent', async () => {
    for (const limit of [1, 2, 4, 5]) {
      const answer = await visitors({ limit: String(limit) })
      expect(idsOf(answer.visitors)).toEqual(newest.slice(0, limit))
      expect(answer.count).toBe(limit)
    }
  })
})

describe('accounts', () => {
  const accounts = (query: Record<string, string> = {}) => visitors({ kind: 'accounts', ...query })

  test('are one row for each company: that of the newest event of anybody there', async () => {
    const answer = await accounts()
    expect(idsOf(answer.visitors)).toEqual(ids(stored.adaNewest, stored.cyd))
    expect(answer.visitors.map(({ company_domain }) => company_domain)).toEqual([
      'one.example',
      'two.example',
    ])
    expect(idsOf((await accounts({ limit: '1' })).visitors)).toEqual(ids(stored.adaNewest))
  })

  test('are charged one record each', async () => {
    const { headers } = await get({ ...required, kind: 'accounts', select: 'company_name' })
    expect(headers['x-footfall-charged']).toBe('2')
  })

  test('are at full profile only', async () => {
    for (const tier of ['resolution_hem', 'resolution_hem_pte']) {
      const answer = await get({ ...required, kind: 'accounts' }, tier)
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'kind' })
    }
  })
})

describe('the scope', () => {
  test('can be a pixel, with and without its project', async () => {
    for (const project_id of ['', projectId]) {
      const answer = await visitors({ project_id, pixel_id: otherPixel })
      expect(idsOf(answer.visitors)).toEqual(ids(stored.cyd))
    }
  })

  test('can be a project in X-Project-Id', async () => {
    const { project_id: _, ...query } = required
    expect((await get(query, full, { 'x-project-id': projectId })).json().count).toBe(5)
  })

  test('ends before end_ms and begins with start_ms', async () => {
    const at = String(now - 2_000)
    expect(idsOf((await visitors({ end_ms: at })).visitors)).not.toContain(stored.ben.event_id)
    expect(idsOf((await visitors({ start_ms: at })).visitors)).toEqual(
      ids(stored.adaNewest, stored.ben),
    )
  })
})

describe('include_dsp', () => {
  test('adds who saw the project’s campaigns', async () => {
    const answer = await visitors({ include_dsp: 'true' })
    expect(idsOf(answer.visitors)).toEqual([stored.eveByCampaign.event_id, ...newest.slice(0, 4)])
  })

  test('reads them beside one pixel where its project is named, and not with the pixel alone', async () => {
    const both = await visitors({ pixel_id: otherPixel, include_dsp: 'true' })
    expect(idsOf(both.visitors)).toEqual(ids(stored.eveByCampaign, stored.cyd))
    const alone = await visitors({ project_id: '', pixel_id: otherPixel, include_dsp: 'true' })
    expect(idsOf(alone.visitors)).toEqual(ids(stored.cyd))
  })

  test('false is the default', async () => {
    expect(await visitors({ include_dsp: 'false' })).toEqual(await visitors())
  })
})

describe('select', () => {
  test('gives these fields in this order, for the same price', async () => {
    const answer = await get({ ...required, select: 'last_name,event_id,company_domain' })
    expect(JSON.stringify(answer.json().visitors[0])).toBe(
      JSON.stringify({
        last_name: profileAt(graph, 0).last_name,
        event_id: stored.adaNewest.event_id,
        company_domain: 'one.example',
      }),
    )
    expect(answer.headers['x-footfall-charged']).toBe('5')
  })

  test.each([
    ['resolution_hem', 'hem,pte_person_id'],
    ['resolution_hem', 'email'],
    ['resolution_hem_pte', 'company_domain'],
  ])('at %s refuses %s', async (tier, select) => {
    const answer = await get({ ...required, select }, tier)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ parameter: 'select' })
  })
})

test('a filter is about events: of those that meet it the newest counts', async () => {
  const answer = await visitors({ filter: 'page_path:eq:/seen' })
  expect(idsOf(answer.visitors)).toEqual(ids(stored.dot))
  const byProfile = await visitors({ filter: `hem:eq:${ben.hem}` })
  expect(idsOf(byProfile.visitors)).toEqual(ids(stored.ben))
})

test('a test key reads the sample database and is not charged', async () => {
  const before = await ledger()
  const answer = await get(required, full, { 'x-test-mode': 'test' })
  expect(answer.json()).toEqual({
    visitors: [],
    count: 0,
    has_partial_data: false,
    meta: { meter: full, records: 0, charged: 0 },
  })
  expect(await ledger()).toEqual(before)
})

describe('bad requests name the parameter', () => {
  test.each<[string, Record<string, string>]>([
    ['project_id', { project_id: '' }],
    ['project_id', { project_id: 'x' }],
    ['pixel_id', { pixel_id: 'x' }],
    ['start_ms', { start_ms: '' }],
    ['end_ms', { end_ms: '' }],
    ['start_ms', { start_ms: 'yesterday' }],
    ['start_ms', { start_ms: required.end_ms }],
    ['limit', { limit: '' }],
    ['limit', { limit: '0' }],
    ['limit', { limit: '50001' }],
    ['limit', { limit: '1.5' }],
    ['kind', { kind: 'visitors' }],
    ['include_dsp', { include_dsp: 'yes' }],
    ['select', { select: 'nothing' }],
    ['filter', { filter: 'x' }],
    ['cursor', { cursor: 'x' }],
    ['start_time', { start_time: '2026-01-01' }],
    ['campaign_id', { campaign_id: 'x' }],
  ])('%s %j', async (parameter, change) => {
    const query = Object.fromEntries(
      Object.entries({ ...required, ...change }).filter(([, value]) => value),
    )
    const answer = await get(query)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
  })

  test('web_event has no visitors', async () => {
    expect((await get(required, 'web_event')).statusCode).toBe(404)
  })
})

test('a pixel has the visitors of its own events only', async () => {
  expect((await visitors({ pixel_id: pixelId })).count).toBe(4)
})
