/** The log of requests, as keys and members read it. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Caller, type Json, openAccounts } from './harness.ts'

let it: Accounts
let project: string
let projectKey: Caller

beforeAll(async () => {
  it = await openAccounts()
  project = await it.makeProject('Logged')
  projectKey = await it.makeKey(project)
})
afterAll(() => it.close())

const list = async (caller: Caller, query: Record<string, string> = {}): Promise<Json> =>
  it.done(caller, `GET /api/v1/requests?${new URLSearchParams(query)}`)

/** Asks, and waits until the log has it. */
async function logged(caller: Caller, route: string, body?: unknown): Promise<Json> {
  const { headers } = await it.ask(caller, route, body)
  expect(headers.get('date')).not.toBeNull()
  const [method, path] = route.split(' ')
  const [pathname = ''] = path!.split('?')
  return waitFor(`the log of ${route}`, async () => {
    const { requests } = await list(it.key)
    return requests.find(
      (request: Json) =>
        request.method === method && request.target.split('?')[0].startsWith(pathname),
    )
  })
}

test('a request is listed with its route, status and time, and without what may tell of a person', async () => {
  const query = { project_id: project, filter: 'page_path:eq:/private', limit: '7' }
  const request = await logged(it.key, `GET /api/v3/events/web_event?${new URLSearchParams(query)}`)
  expect(request).toEqual({
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.any(String),
    project_id: project,
    caller: { kind: 'key', id: expect.any(String), name: 'Demo key' },
    mode: 'live',
    method: 'GET',
    route: '/api/v3/events/web_event',
    target: `/api/v3/events/web_event?project_id=${project}&filter=…&limit=7`,
    status: 200,
    error: null,
    latency_ms: expect.any(Number),
    meter: null,
    records: 0,
    amount_micros: 0,
  })
  const lookup = await logged(it.key, 'GET /api/v1/lookup?email=ada@secret.example')
  const told = JSON.stringify(lookup).replaceAll(/[\da-f-]{36}/g, 'id')
  expect(told).not.toContain('ada')
  expect(lookup.target).toBe('/api/v1/lookup?email=…')
  const refused = await logged(it.key, `GET /api/v1/project/retrieve/${randomUUID()}`)
  expect(refused).toMatchObject({ status: 404, error: 'project not found' })
})

test('what nobody was let in for is of no organization, and so not listed', async () => {
  expect((await it.ask({ 'x-api-key': 'ff_live_wrong' }, 'GET /api/v1/whoami')).status).toBe(401)
  await logged(it.key, 'GET /api/v1/taxonomy')
  const { requests } = await list(it.key)
  expect(requests.filter(({ status }: Json) => status === 401)).toEqual([])
})

test('a test key’s requests are its organization’s, and it reads of none', async () => {
  const request = await logged(it.testKey, 'GET /api/v1/field-catalog')
  expect(request).toMatchObject({ mode: 'test', caller: { name: 'Demo test key' } })
  expect((await list(it.testKey)).requests).toEqual([])
})

test('a project’s key and members are told of their project alone, strangers of nothing', async () => {
  const stranger = await it.openStranger()
  await logged(projectKey, 'GET /api/v1/exports')
  const own = await waitFor('its own', async () => {
    const { requests } = await list(projectKey)
    return requests.some(({ route }: Json) => route === '/api/v1/exports') ? requests : undefined
  })
  expect(new Set(own.map(({ project_id }: Json) => project_id))).toEqual(new Set([project]))
  const member = await it.join('member', [{ project_id: project, role: 'member' }])
  const seen = (await list(member.session)).requests
  expect(new Set(seen.map(({ project_id }: Json) => project_id))).toEqual(new Set([project]))
  expect((await list((await it.join('member')).session)).requests).toEqual([])
  expect((await it.ask(stranger.key, `GET /api/v1/requests?project_id=${project}`)).status).toBe(
    404,
  )
})

test('requests are found by status, route, caller and id, and their pages have each once', async () => {
  const { requests: all } = await list(it.key, { limit: '200' })
  const one = all.find(({ status }: Json) => status === 404)
  expect((await list(it.key, { request_id: one.request_id })).requests).toEqual([one])
  for (const [query, matches] of [
    [{ status: '4xx' }, ({ status }: Json) => status >= 400 && status < 500],
    [{ status: '404' }, ({ status }: Json) => status === 404],
    [{ route: '/lookup' }, ({ route }: Json) => route.includes('/lookup')],
    [{ caller_id: one.caller.id }, ({ caller }: Json) => caller.id === one.caller.id],
    [{ caller_kind: 'key' }, ({ caller }: Json) => caller.kind === 'key'],
  ] as const) {
    const { requests } = await list(it.key, query)
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.filter((request: Json) => !matches(request))).toEqual([])
  }
  // Later requests are newer, so the following pages stay the same.
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const page = await list(it.key, { limit: '3', ...(cursor && { cursor }) })
    ids.push(...page.requests.map(({ request_id }: Json) => request_id))
    if (!page.next_cursor) break
    cursor = page.next_cursor
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(expect.arrayContaining(all.map(({ request_id }: Json) => request_id)))
})

test('a charge leads to its request, what was refunded taken off, and one without a request is a job’s', async () => {
  const { organization_id } = it.demo
  const request = await logged(it.key, `GET /api/v3/events/web_event/schema?project_id=${project}`)
  const job = randomUUID()
  const key = request.caller.id
  for (const [id, kind, records, amount] of [
    [request.request_id, 'charge', 10, 1000],
    [request.request_id, 'refund', -4, -400],
    [job, 'charge', 5, 25_000],
  ] as const) {
    await it.postgres.query(
      `INSERT INTO ledger (request_id, kind, organization_id, project_id, caller_id, meter, records, free_records,
         amount_micros, day, at) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, current_date,
         date_trunc('milliseconds', now()))`,
      [
        id,
        kind,
        organization_id,
        project,
        key,
        id === job ? 'audience' : 'events',
        records,
        amount,
      ],
    )
  }
  expect((await list(it.key, { request_id: request.request_id })).requests).toEqual([
    { ...request, meter: 'events', records: 6, amount_micros: 600 },
  ])
  const { requests } = await list(it.key, { charged: 'true' })
  expect(requests.map(({ request_id }: Json) => request_id).sort()).toEqual(
    [request.request_id, job].sort(),
  )
  expect((await list(it.key, { meter: 'audience' })).requests).toEqual([
    {
      request_id: job,
      at: expect.any(String),
      project_id: project,
      mode: 'live',
      caller: { kind: 'key', id: key, name: 'Demo key' },
      method: null,
      route: null,
      target: null,
      status: null,
      error: null,
      latency_ms: null,
      meter: 'audience',
      records: 5,
      amount_micros: 25_000,
    },
  ])
})
