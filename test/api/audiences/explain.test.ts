import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addOptOut, syncToClickHouse } from '../../../collector/identity/privacy/optOuts.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { eventOf, linkOf, organizationId, projectId } from '../events/harness.ts'
import { openAudiences } from './harness.ts'

const it = await openAudiences()
afterAll(() => it.close())

const email = 'ann@shop.example'
const ann = hemOf(email)
const cookie = randomUUID()
const definition = {
  entity: 'people',
  include: {
    all: [
      { profile: { field: 'first_name', op: 'eq', value: 'Ann' } },
      { event: { event_type: 'page_view', at_least: 3, within_days: 7 } },
    ],
  },
  exclude: { profile: { field: 'job_title', op: 'eq', value: 'Intern' } },
}
let audienceId: string
beforeAll(async () => {
  await it.know({
    links: [linkOf(cookie, ann)],
    profiles: [{ hem: ann, first_name: 'Ann', job_title: 'CEO' }],
  })
  await visit(2)
  audienceId = await it.create(definition)
  await it.build(audienceId)
})

const visit = (times: number) =>
  it.insert(
    Array.from({ length: times }, (_, n) => eventOf(Date.now(), 60_000 + n, { cookie_id: cookie })),
  )

async function explain(query: Record<string, string>) {
  const answer = await it.app.inject({
    url: `/api/v1/audiences/${audienceId}/explain`,
    query: { project_id: projectId, ...query },
  })
  return {
    status: answer.statusCode,
    charged: answer.headers['x-footfall-charged'],
    body: answer.json(),
  }
}

test('leaf by leaf, with how many events were counted; charged as one lookup', async () => {
  const asked = await explain({ email: ` ${email.toUpperCase()}`.trim() })
  expect(asked).toMatchObject({ status: 200, charged: '1' })
  expect(asked.body).toMatchObject({
    audience_id: audienceId,
    known: true,
    in_build: false,
    matches: false,
  })
  expect(asked.body.leaves).toEqual([
    { pointer: '/definition/include/all/0/profile', met: true },
    { pointer: '/definition/include/all/1/event', met: false, events: 2 },
    { pointer: '/definition/exclude/profile', met: false },
  ])
  const { rows } = await it.postgres.query('SELECT meter, project_id, records::int FROM ledger')
  expect(rows).toEqual([{ meter: 'lookup', project_id: projectId, records: 1 }])
})

test('what happened since the build shows, until the next one', async () => {
  await visit(1)
  const before = await explain({ hem: ann })
  expect(before.body).toMatchObject({
    in_build: false,
    matches: true,
    reason: expect.stringContaining('next build'),
  })
  expect(before.body.leaves[1]).toEqual({
    pointer: '/definition/include/all/1/event',
    met: true,
    events: 3,
  })
  await it.build(audienceId)
  expect((await explain({ hem: ann })).body).toMatchObject({ in_build: true, matches: true })
})

test('a repeat with the same Idempotency-Key is free until the audience changes', async () => {
  const definition = (at_least: number) => ({
    entity: 'people',
    include: { event: { event_type: 'page_view', at_least, within_days: 7 } },
  })
  const id = await it.create(definition(1))
  const headers = { 'idempotency-key': randomUUID() }
  const ask = async () => {
    const url = `/api/v1/audiences/${id}/explain`
    const answer = await it.app.inject({ url, query: { project_id: projectId, hem: ann }, headers })
    return [answer.headers['x-footfall-charged'], answer.json().matches]
  }
  const edit = async (payload: object) => {
    const url = `/api/v1/audiences/${id}`
    const query = { project_id: projectId }
    expect((await it.app.inject({ method: 'PATCH', url, query, payload })).statusCode).toBe(200)
  }
  expect([await ask(), await ask()]).toEqual([
    ['1', true],
    ['0', true],
  ])
  await edit({ definition: definition(9) })
  expect([await ask(), await ask()]).toEqual([
    ['1', false],
    ['0', false],
  ])
  await edit({ intent_window_days: 90 })
  expect(await ask()).toEqual(['1', false])
  await it.build(id)
  expect(await ask()).toEqual(['1', false])
  await edit({ name: 'Another name' })
  expect(await ask()).toEqual(['0', false])
})

test('nobody that is known costs nothing, and whoever opted out is nobody', async () => {
  expect(await explain({ hem: 'f'.repeat(64) })).toMatchObject({
    status: 200,
    charged: '0',
    body: { known: false, matches: false },
  })
  await addOptOut(it.postgres, organizationId, { hem: ann })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
  const hidden = await explain({ hem: ann })
  expect(hidden).toMatchObject({
    charged: '0',
    body: { known: false, in_build: false, matches: false },
  })
  expect(hidden.body.leaves.some(({ met }: { met: boolean }) => met)).toBe(false)
  await it.postgres.query('UPDATE opt_outs SET removed_at = now(), is_known_to_clickhouse = false')
  await syncToClickHouse(it.postgres, it.clickhouse.live)
})

test.each([[{}], [{ hem: ann, email }], [{ hem: 'short' }], [{ hem: ann, more: '1' }]])(
  '400 for %j',
  async (query) => {
    expect((await explain(query as Record<string, string>)).status).toBe(400)
  },
)

test('linkage-usage tells what audiences cost, by project and meter; a project key sees its own', async () => {
  const read = await it.app.inject({
    url: `/api/v1/audiences/${audienceId}/records`,
    query: { project_id: projectId },
  })
  expect(read.statusCode).toBe(200)
  const usage = async (
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
  ) => {
    const answer = await it.app.inject({ url: '/api/v1/audiences/linkage-usage', query, headers })
    return { status: answer.statusCode, body: answer.json() }
  }
  const records = read.json().results.length
  const own = {
    projects: [
      { project_id: projectId, records, by_meter: { audience: records, audience_predictive: 0 } },
    ],
  }
  expect(await usage()).toEqual({ status: 200, body: own })
  expect(await usage({ project_id: projectId })).toEqual({ status: 200, body: own })
  expect(await usage({ start_date: '2026-01-01', end_date: '2026-01-02' })).toEqual({
    status: 200,
    body: { projects: [] },
  })
  expect(await usage({}, { 'x-project-key': projectId })).toEqual({ status: 200, body: own })
  expect(await usage({ project_id: projectId }, { 'x-project-key': randomUUID() })).toMatchObject({
    status: 403,
    body: { error: 'project_id does not match API key scope' },
  })
  expect((await usage({ start_date: 'yesterday' })).status).toBe(400)
})
