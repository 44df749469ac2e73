import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliveredQuery } from '../../../../collector/activation/campaigns/performance.ts'
import type { Row } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Headers, openTenants, type Tenants } from '../../../harness/tenants.ts'

let tenants: Tenants
const dayMs = 86_400_000
const today = Math.floor(Date.now() / dayMs) * dayMs
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Newest first, as they are listed: `busy` and `idle` of the first project, `other` of the second. */
const campaigns = { busy: '', idle: '', other: '' }

beforeAll(async () => {
  tenants = await openTenants({ hasSample: true })
  const { first, second } = tenants
  const flight = { start_date: dateOf(today - 9 * dayMs), end_date: dateOf(today + 10 * dayMs) }
  campaigns.other = await create({
    project_id: second.projectId,
    name: 'Other',
    start_date: '2026-01-01',
    budget: 50,
  })
  campaigns.idle = await create({
    project_id: first.projectId,
    name: 'Idle',
    start_date: '2026-01-01',
  })
  campaigns.busy = await create({
    project_id: first.projectId,
    name: 'Busy',
    status: 'active',
    budget: 10,
    ...flight,
  })

  // Two days of 300 impressions for 0.0025 each and 3 clicks for 0.1, at the edges of the day.
  for (const [campaign_id, days] of [
    [campaigns.busy, [today - 3 * dayMs, today - 2 * dayMs]],
    [campaigns.other, [today - 3 * dayMs]],
  ] as const) {
    const events = days.flatMap((day) => [
      ...Array.from({ length: 300 }, (_, index) =>
        eventAt(index % 2 === 0 ? day : day + dayMs - 1, 0.0025),
      ),
      ...Array.from({ length: 3 }, () => ({ ...eventAt(day, 0.1), event_type: 'click' })),
    ])
    const json = { events: events.map((event) => ({ ...event, campaign_id })) }
    const { body } = await tenants.ask('/api/v1/campaigns/events', {}, undefined, {
      method: 'POST',
      json,
    })
    expect(body).toEqual({ accepted: events.length, rejected: [] })
  }
  await waitFor('both deliveries', async () => {
    const delivered = [await performance(campaigns.busy), await performance(campaigns.other)]
    return delivered[0].metrics.impressions === 600 && delivered[1].metrics.impressions === 300
  })
})
afterAll(() => tenants.close())

async function create(json: Row): Promise<string> {
  const { body } = await tenants.ask('/api/v1/campaigns', {}, undefined, { method: 'POST', json })
  return body.campaign.campaign_id
}

const eventAt = (ts: number, spend: number) => ({
  event_id: randomUUID(),
  event_type: 'impression',
  ts,
  spend,
})

const get = async (suffix: string, query: Record<string, string> = {}, key?: Headers) =>
  (await tenants.ask(`/api/v1/campaigns${suffix}`, query, key)).body
const performance = (id: string, query: Record<string, string> = {}) =>
  get(`/${id}/performance`, query)

const oneDay = { impressions: 300, clicks: 3, spend: 1.05 }

describe('GET /api/v1/campaigns/{id}/performance', () => {
  test('is metrics and days, exactly as the specification shows them', async () => {
    expect(await performance(campaigns.busy)).toEqual({
      campaign_id: campaigns.busy,
      metrics: { impressions: 600, clicks: 6, spend: 2.1, ctr: 0.01, cpm: 3.5 },
      daily: [
        { date: dateOf(today - 3 * dayMs), ...oneDay },
        { date: dateOf(today - 2 * dayMs), ...oneDay },
      ],
    })
  })

  test('of named days is of these, the last included', async () => {
    const date = dateOf(today - 2 * dayMs)
    const { metrics, daily } = await performance(campaigns.busy, {
      start_date: date,
      end_date: date,
    })
    expect(metrics).toMatchObject(oneDay)
    expect(daily).toEqual([{ date, ...oneDay }])
    expect(
      (await performance(campaigns.busy, { end_date: dateOf(today - 4 * dayMs) })).metrics
        .impressions,
    ).toBe(0)
    expect((await performance(campaigns.busy, { start_date: 'monday' })).parameter).toBe(
      'start_date',
    )
  })

  test('of a campaign that did nothing is zeros', async () => {
    expect(await performance(campaigns.idle)).toEqual({
      campaign_id: campaigns.idle,
      metrics: { impressions: 0, clicks: 0, spend: 0, ctr: 0, cpm: 0 },
      daily: [],
    })
  })

  test('equals what the events say', async () => {
    const query = { campaign_id: campaigns.busy, start_time: '2026-01-01', group_by: 'event_type' }
    const { counts } = (await tenants.ask('/api/v3/events/web_event/counts', query)).body
    expect(counts).toEqual([
      { event_type: 'impression', count: 600 },
      { event_type: 'click', count: 6 },
    ])
  })

  test('is read from the projection, not from the events', async () => {
    const { sql, params } = deliveredQuery(
      {
        organizationId: tenants.organizationId,
        startDate: '2026-01-01',
        endDate: '2027-01-01',
        campaigns: [{ campaign_id: campaigns.busy, project_id: tenants.first.projectId }],
      },
      'date',
    )
    const lines = await tenants.clickhouse.rows<{ explain: string }>({
      sql: `EXPLAIN projections = 1 ${sql}`,
      params,
    })
    expect(lines.map(({ explain }) => explain).join('\n')).toContain('by_campaign')
  })
})

describe('GET /api/v1/campaigns/{id}/budget-status', () => {
  test('tells utilization, what remains, and the pace', async () => {
    expect(await get(`/${campaigns.busy}/budget-status`)).toEqual({
      campaign_id: campaigns.busy,
      project_id: tenants.first.projectId,
      name: 'Busy',
      status: 'active',
      budget: 10,
      spend: 2.1,
      remaining: 7.9,
      utilization: 0.21,
      pacing: {
        // Nine to ten of twenty days have passed.
        health: 'underpacing',
        start_date: dateOf(today - 9 * dayMs),
        end_date: dateOf(today + 10 * dayMs),
        elapsed: expect.any(Number),
        expected_spend: expect.any(Number),
        ratio: expect.any(Number),
      },
    })
    const { pacing } = await get(`/${campaigns.busy}/budget-status`)
    expect(pacing.elapsed).toBeGreaterThanOrEqual(0.45)
    expect(pacing.elapsed).toBeLessThanOrEqual(0.5)
    expect(pacing.expected_spend).toBeCloseTo(10 * pacing.elapsed, 4)
    expect((await get(`/${campaigns.idle}/budget-status`)).pacing.health).toBe('no_budget')
  })
})

describe('GET /api/v1/campaigns/performance-summary', () => {
  test('is of every campaign of the project, with totals', async () => {
    const { campaigns: listed, ...rest } = await get('/performance-summary', {
      project_id: tenants.first.projectId,
    })
    const metrics = { impressions: 600, clicks: 6, spend: 2.1, ctr: 0.01, cpm: 3.5 }
    expect(rest).toEqual({ count: 2, total: 2, totals: metrics })
    expect(listed).toEqual([
      {
        campaign_id: campaigns.busy,
        project_id: tenants.first.projectId,
        name: 'Busy',
        status: 'active',
        metrics,
      },
      expect.objectContaining({
        campaign_id: campaigns.idle,
        metrics: expect.objectContaining({ spend: 0 }),
      }),
    ])
  })

  test('pages on the server; totals are of all pages', async () => {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await get('/performance-summary', { limit: '1', ...(cursor && { cursor }) })
      expect(page.totals).toMatchObject({ impressions: 900, clicks: 9, spend: 3.15 })
      expect(page.count).toBe(3)
      found.push(...page.campaigns.map(({ campaign_id }: Row) => campaign_id))
      cursor = page.next_cursor
    } while (cursor)
    expect(found).toEqual([campaigns.busy, campaigns.idle, campaigns.other])
  })

  test('takes days, a status and, with an organization key, a campaign', async () => {
    const start_date = dateOf(today - 2 * dayMs)
    expect((await get('/performance-summary', { start_date })).totals.impressions).toBe(300)
    expect((await get('/performance-summary', { status: 'active' })).count).toBe(1)
    const one = await get('/performance-summary', { campaign_id: campaigns.other })
    expect([one.count, one.totals.impressions]).toEqual([1, 300])
  })

  test('of a project key is its project’s', async () => {
    const summary = await get('/performance-summary', {}, tenants.keys.second)
    expect(summary.campaigns.map(({ campaign_id }: Row) => campaign_id)).toEqual([campaigns.other])
    const project_id = tenants.first.projectId
    for (const suffix of ['/performance-summary', '/budget-summary']) {
      expect((await get(suffix, { project_id }, tenants.keys.second)).error).toBe(
        'project_id does not match API key scope',
      )
      expect((await get(suffix, {}, tenants.keys.foreign)).count).toBe(0)
    }
  })
})

test('GET /api/v1/campaigns/budget-summary adds up the campaigns that have a budget', async () => {
  const { campaigns: listed, ...rest } = await get('/budget-summary')
  expect(rest).toEqual({
    count: 3,
    total: 3,
    totals: { budget: 60, spend: 3.15, remaining: 56.85, utilization: 0.0525 },
  })
  expect(listed.map(({ name, spend, remaining }: Row) => [name, spend, remaining])).toEqual([
    ['Busy', 2.1, 7.9],
    ['Idle', 0, null],
    ['Other', 1.05, 48.95],
  ])
})

describe('a test key', () => {
  const ask = (suffix: string, query?: Record<string, string>) =>
    tenants.ask(`/api/v1/campaigns${suffix}`, query, tenants.keys.test)

  test('reads the sample’s campaigns and what they did', async () => {
    const { body, headers } = await ask('')
    expect(headers.get('x-svc-mode')).toBe('test')
    expect(body.campaigns.map(({ name }: Row) => name)).toEqual(['Teapots', 'Mugs for mornings'])
    const { campaign_id } = body.campaigns[1]
    const { metrics, daily } = (await ask(`/${campaign_id}/performance`)).body
    // In the first hour of a day, nothing has happened on it.
    expect(daily.length).toBeGreaterThanOrEqual(30)
    expect(metrics.impressions).toBeGreaterThan(500)
    expect((await ask('/performance-summary')).body.totals.impressions).toBeGreaterThan(
      metrics.impressions,
    )

    const query = { campaign_id, start_time: dateOf(today - dayMs), end_time: dateOf(today) }
    const { rows } = (await tenants.ask('/api/v3/events/web_event', query, tenants.keys.test)).body
    expect(rows.length).toBeGreaterThan(20)
    for (const row of rows) expect(row).toMatchObject({ campaign_id, source: 'svcdsp' })
  })

  test('reads none of its own organization’s', async () => {
    expect((await ask(`/${campaigns.busy}`)).status).toBe(404)
    const query = { campaign_id: campaigns.busy }
    const { status, body } = await tenants.ask('/api/v3/events/web_event', query, tenants.keys.test)
    expect([status, body.error]).toEqual([404, 'campaign not found'])
  })
})
