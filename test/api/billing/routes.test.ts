import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiCredentials } from '../../../collector/accounts/keys/apiKeys.ts'
import { storeMember } from '../../../collector/accounts/members/newMember.ts'
import { createTokens } from '../../../collector/api/access/tokens.ts'
import { storeProject } from '../../harness/owners.ts'
import { newKey, openApi } from './api.ts'
import { type Organization, requestOf, setPrice, take } from './harness.ts'

let api: Awaited<ReturnType<typeof openApi>>
let organization: Organization
let otherProjectId: string
const keys = {} as Record<'organization' | 'project' | 'test', ApiCredentials>

/** 15 January: 5 events and 3 lookups, 2 of them the project’s; 14 January: 7 events; 31 December: 100 events. */
beforeAll(async () => {
  api = await openApi()
  const { accounts, billing } = api
  organization = await accounts.newOrganization()
  otherProjectId = randomUUID()
  await storeProject(accounts.postgres, otherProjectId, organization.organizationId, 'Q')
  keys.organization = await newKey(accounts, organization.organizationId, null)
  keys.project = await newKey(accounts, organization.organizationId, organization.projectId)
  keys.test = await newKey(accounts, organization.organizationId, null, 'test')
  await setPrice(accounts, organization, 'events', 1_000_000, 103)
  await setPrice(accounts, organization, 'lookup', 2_000_000)

  const today = accounts.clock.now
  accounts.clock.now = Date.UTC(2025, 11, 31, 23, 59)
  await take(billing, requestOf(organization), 100)
  accounts.clock.now = Date.UTC(2026, 0, 14)
  await take(billing, requestOf(organization), 107)
  accounts.clock.now = today
  await take(billing, requestOf(organization), 5)
  await take(billing, requestOf(organization), 1, 'lookup')
  await take(billing, requestOf(organization, { projectKey: true }), 2, 'lookup')
})
afterAll(() => api.close())

type Answer = Record<string, unknown>

async function get(path: string, key = keys.organization): Promise<Answer> {
  const answer = await api.ask(`/api/v1/billing/${path}`, {}, key)
  return { status: answer.status, ...((await answer.json()) as Answer) }
}

test('usage: this month of the organization, when nothing else is asked for', async () => {
  expect(await get('usage')).toEqual({
    status: 200,
    project_id: null,
    start_date: '2026-01-01',
    end_date: '2026-01-15',
    currency: 'usd',
    records: 107 + 5 + 3,
    free_records: 103,
    amount_micros: (112 - 103) * 1_000 + 3 * 2_000,
  })
})

test('usage by meter, in a window that includes both of its days', async () => {
  expect(await get('usage/by-meter?start_date=2025-12-31&end_date=2026-01-14')).toEqual({
    status: 200,
    project_id: null,
    start_date: '2025-12-31',
    end_date: '2026-01-14',
    currency: 'usd',
    meters: [{ meter: 'events', records: 207, free_records: 203, amount_micros: 4_000 }],
  })
})

test('usage of each meter on each day', async () => {
  const { daily } = await get('usage/daily-by-meter?start_date=2025-12-01')
  expect(daily).toEqual([
    { date: '2025-12-31', meter: 'events', records: 100, free_records: 100, amount_micros: 0 },
    { date: '2026-01-14', meter: 'events', records: 107, free_records: 103, amount_micros: 4_000 },
    { date: '2026-01-15', meter: 'events', records: 5, free_records: 0, amount_micros: 5_000 },
    { date: '2026-01-15', meter: 'lookup', records: 3, free_records: 0, amount_micros: 6_000 },
  ])
})

test.each(['usage', 'usage/by-meter', 'usage/daily-by-meter'])(
  'a project key gets its own project’s %s only',
  async (path) => {
    const own = await get(path, keys.project)
    expect(own).toEqual(await get(`${path}?project_id=${organization.projectId}`))
    expect(JSON.stringify(own)).toContain('"records":2,')
    expect(await get(`${path}?project_id=${otherProjectId}`, keys.project)).toMatchObject({
      status: 403,
      error: 'project_id does not match API key scope',
    })
  },
)

test('usage by key: who read, what it cost, the dearest first; of a project what is its own', async () => {
  const { callers, ...window } = await get('usage/by-key')
  expect(window).toMatchObject({ status: 200, project_id: null, start_date: '2026-01-01' })
  const found = callers as (Answer & { records: number; amount_micros: number })[]
  const amounts = found.map(({ amount_micros }) => amount_micros)
  expect(amounts).toEqual(amounts.toSorted((one, other) => other - one))
  const whole = (await get('usage')) as unknown as { records: number; amount_micros: number }
  expect(found.reduce((sum, { records }) => sum + records, 0)).toBe(whole.records)
  expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(whole.amount_micros)
  const ofProject = (await get(`usage/by-key?project_id=${organization.projectId}`))
    .callers as Answer[]
  expect(ofProject).toEqual([
    expect.objectContaining({ meter: 'lookup', records: 2, free_records: 0, amount_micros: 4_000 }),
  ])
  expect((await get('usage/by-key', keys.test)).callers).toEqual([])
})

test('the forecast goes on as the days since the first charge did', async () => {
  // The 14th, the first day that cost anything, cost 4,000, today, the 15th, 11,000 so far; sixteen days are left after it.
  const { spent_micros, daily_average_micros, forecast_micros, ...more } = (await get(
    'usage/forecast',
  )) as unknown as Record<string, number>
  const usage = (await get('usage')) as unknown as { amount_micros: number }
  expect(more).toEqual({
    status: 200,
    project_id: null,
    month: '2026-01',
    currency: 'usd',
    budget_micros: null,
  })
  expect(spent_micros).toBe(usage.amount_micros)
  const before = spent_micros! - 11_000
  expect(daily_average_micros).toBe(before)
  expect(forecast_micros).toBe(before + 11_000 + before * 16)
  expect(await get('usage/forecast', keys.test)).toMatchObject({
    spent_micros: 0,
    forecast_micros: 0,
  })
})

test('a project without usage has none', async () => {
  expect(await get(`usage?project_id=${otherProjectId}`)).toMatchObject({ status: 200, records: 0 })
})

test('a test key has used nothing', async () => {
  expect(await get('usage', keys.test)).toMatchObject({ status: 200, records: 0, amount_micros: 0 })
  expect(await get('limits', keys.test)).toMatchObject({ status: 200 })
})

test('an owner gets the organization’s usage; a plain member that of their projects', async () => {
  const { accounts } = api
  const tokens = createTokens(accounts.postgres)
  const asMember = async (role: 'owner' | 'member') => {
    const memberId = randomUUID()
    await storeMember(accounts.postgres, {
      memberId,
      organizationId: organization.organizationId,
      email: `${memberId}@one.example`,
      role,
      passwordHash: 'x',
    })
    const authorization = `Bearer ${await tokens.sign(memberId)}`
    const ask = async (path: string) => {
      const answer = await fetch(`${api.url}/api/v1/billing/${path}`, {
        headers: { authorization },
      })
      return { status: answer.status, ...((await answer.json()) as Answer) }
    }
    return { memberId, ask }
  }
  const owner = await asMember('owner')
  expect(await owner.ask('usage')).toMatchObject({ status: 200, records: 115 })
  expect(await owner.ask('limits')).toMatchObject({ status: 200 })

  const member = await asMember('member')
  await accounts.postgres.query(
    `INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, 'member')`,
    [organization.projectId, member.memberId],
  )
  expect(await member.ask('usage')).toMatchObject({ status: 403 })
  expect(await member.ask('limits')).toMatchObject({ status: 403 })
  expect(await member.ask(`usage?project_id=${otherProjectId}`)).toMatchObject({ status: 404 })
  expect(await member.ask(`usage?project_id=${organization.projectId}`)).toMatchObject({
    records: 2,
  })
})

test.each([
  ['start_date=2026-01-16', 'start_date'],
  ['end_date=0000-01-01', 'end_date'],
  ['start_date=2024-01-01', 'start_date'],
  ['end_date=2026-02-30', 'end_date'],
  ['end_date=yesterday', 'end_date'],
  ['project_id=x', 'project_id'],
  ['limit=1', 'limit'],
])('%s is refused by its name', async (query, parameter) => {
  expect(await get(`usage?${query}`)).toMatchObject({ status: 400, parameter })
})

async function put(body: unknown, key = keys.organization): Promise<Answer> {
  const answer = await api.ask(
    '/api/v1/billing/limits',
    {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
    key,
  )
  return { status: answer.status, ...((await answer.json()) as Answer) }
}

test('budgets and limits are set as a whole, shown with what is used, and bind from the next request on', async () => {
  const set = await put({
    budgets: [
      { project_id: null, monthly_micros: 1_000_000 },
      { project_id: organization.projectId, monthly_micros: 4_000 },
    ],
    limits: [{ meter: 'events', daily_records: 5, monthly_records: null }],
  })
  expect(set).toEqual({
    status: 200,
    currency: 'usd',
    shut_off: false,
    budgets: [
      { project_id: null, monthly_micros: 1_000_000, spent_micros: 15_000, alerts: [] },
      {
        project_id: organization.projectId,
        monthly_micros: 4_000,
        spent_micros: 4_000,
        alerts: [],
      },
    ],
    limits: [
      {
        meter: 'events',
        daily_records: 5,
        monthly_records: null,
        used_today: 5,
        used_this_month: 112,
      },
    ],
  })
  expect(await get('limits')).toEqual(set)

  const { billing } = api
  await expect(take(billing, requestOf(organization), 1)).rejects.toMatchObject({ status: 429 })
  const byProject = take(billing, requestOf(organization, { projectKey: true }), 1, 'lookup')
  await expect(byProject).rejects.toMatchObject({
    status: 402,
    extra: { body: { budget: 'project' } },
  })

  expect(await put({ budgets: [], limits: [] })).toMatchObject({
    status: 200,
    budgets: [],
    limits: [],
  })
  const { rows } = await api.accounts.postgres.query(
    `SELECT details FROM audit_log WHERE organization_id = $1 AND action = 'organization.limits'
     ORDER BY entry_id DESC LIMIT 1`,
    [organization.organizationId],
  )
  expect(rows[0]!.details).toEqual({
    budgets: {
      from: [
        { project_id: null, monthly_micros: 1_000_000 },
        { project_id: organization.projectId, monthly_micros: 4_000 },
      ],
      to: [],
    },
    limits: { from: [{ meter: 'events', daily_records: 5, monthly_records: null }], to: [] },
  })
  expect(await take(billing, requestOf(organization), 1)).toBe(1)
})

test('budgets and limits of other organizations stay as they are', async () => {
  const other = await api.accounts.newOrganization()
  const otherKey = await newKey(api.accounts, other.organizationId, null)
  const set = await put(
    {
      budgets: [
        { project_id: null, monthly_micros: 1_000_000 },
        { project_id: other.projectId, monthly_micros: 4_000 },
      ],
      limits: [{ meter: 'events', daily_records: 5, monthly_records: null }],
    },
    otherKey,
  )
  expect(set).toMatchObject({ status: 200 })
  expect(await put({ budgets: [], limits: [] })).toMatchObject({ status: 200 })
  expect(await get('limits', otherKey)).toEqual(set)
})

test.each([
  [{ budgets: [] }, 'limits'],
  [
    { budgets: [{ project_id: null, monthly_micros: -1 }], limits: [] },
    'budgets[0].monthly_micros',
  ],
  [
    { budgets: [{ project_id: null, monthly_micros: 1.5 }], limits: [] },
    'budgets[0].monthly_micros',
  ],
  [
    { budgets: [{ project_id: null, monthly_micros: 2 ** 60 }], limits: [] },
    'budgets[0].monthly_micros',
  ],
  [
    {
      budgets: [
        { project_id: null, monthly_micros: 1 },
        { project_id: null, monthly_micros: 2 },
      ],
      limits: [],
    },
    'budgets',
  ],
  [
    { budgets: [], limits: [{ meter: 'cats', daily_records: 1, monthly_records: 1 }] },
    'limits[0].meter',
  ],
])('limits that are none are refused by their name: %j', async (body, parameter) => {
  expect(await put(body)).toMatchObject({ status: 400, parameter })
})

test('a budget for a project of somebody else is refused, and nothing of the request is kept', async () => {
  const before = await get('limits')
  const refused = await put({
    budgets: [{ project_id: api.organization.projectId, monthly_micros: 1 }],
    limits: [{ meter: 'events', daily_records: 1, monthly_records: 1 }],
  })
  expect(refused).toMatchObject({ status: 404, error: 'project not found' })
  expect(await get('limits')).toEqual(before)
})

test('limits are not for a project key', async () => {
  const refused = {
    status: 403,
    message: expect.stringContaining('not available to a project-scoped API key'),
  }
  expect(await get('limits', keys.project)).toMatchObject(refused)
  expect(await put({ budgets: [], limits: [] }, keys.project)).toMatchObject(refused)
})

test('the documentation tells of 402, usage limits and Idempotency-Key where records are charged, and only there', async () => {
  const { paths } = (await (await api.ask('/openapi.json')).json()) as {
    paths: Record<
      string,
      {
        get?: {
          responses: Record<string, { description: string }>
          parameters?: { name: string }[]
        }
      }
    >
  }
  const charged = Object.entries(paths)
    .filter(([, { get }]) => get?.responses['402'])
    .map(([path, { get }]) => {
      expect(get!.responses['429']!.description).toContain('platform_cap_exceeded')
      expect(get!.parameters!.map(({ name }) => name)).toContain('Idempotency-Key')
      return path
    })
  expect(charged).toContain('/api/v3/events/web_event')
  expect(charged).not.toContain('/api/v3/events/web_event/counts')
})
