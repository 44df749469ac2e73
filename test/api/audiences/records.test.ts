import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addOptOut, syncToClickHouse } from '../../../collector/identity/privacy/optOuts.ts'
import { personFields } from '../../../collector/identity/store/people.ts'
import { organizationId, projectId } from '../events/harness.ts'
import { openAudiences } from './harness.ts'

const it = await openAudiences()
afterAll(() => it.close())

const people = 47
const hemOf = (n: number) => ((n + 1) * 2_654_435_761).toString(16).padStart(64, '0')
const everybody = {
  entity: 'people',
  include: { profile: { field: 'first_name', op: 'eq', value: 'Ann' } },
}

let audienceId: string
beforeAll(async () => {
  const profiles = Array.from({ length: people }, (_, n) => ({
    hem: hemOf(n),
    first_name: 'Ann',
    job_title: n % 3 === 0 ? null : `Title ${n}`,
  }))
  await it.know({ profiles })
  audienceId = await it.create(everybody)
  await it.build(audienceId)
})

const path = (id = audienceId) => `/api/v1/audiences/${id}/records`

async function ask(
  query: Record<string, string> = {},
  headers: Record<string, string> = {},
  url = path(),
) {
  const project = headers['x-project-id'] ? {} : { project_id: projectId }
  const answer = await it.app.inject({ url, query: { ...project, ...query }, headers })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

/** All pages, one after the other. */
async function pages(query: Record<string, string>, url = path()) {
  const found = []
  for (let cursor: string | undefined; ; ) {
    const { status, body } = await ask({ ...query, ...(cursor && { cursor }) }, {}, url)
    expect(status).toBe(200)
    found.push(body)
    cursor = body.next_cursor
    if (cursor === undefined) return found
  }
}

test.each([1, 7, 46, 47, 48, 5_000])(
  'pages of %i have everybody once, in the order of the build',
  async (size) => {
    const found = await pages({ page_size: String(size) })
    const members = await it.membersOf(await servedBuild())
    expect(members).toHaveLength(people)
    expect(found.flatMap(({ results }) => results.map(({ hem }: { hem: string }) => hem))).toEqual(
      members,
    )
    expect(found).toHaveLength(Math.ceil(people / size))
    for (const page of found)
      expect(page).toMatchObject({ audience_id: audienceId, count: people, total: people })
  },
)

test('rows have the hem and every field of a profile, null where it is missing', async () => {
  const [page] = await pages({})
  for (const row of page.results) {
    expect(Object.keys(row).sort()).toEqual(personFields.map(({ name }) => name).sort())
    const { body } = await lookUp(row.hem)
    expect(row).toEqual(body.person)
  }
})

test('the project is named by the header as well, and answers are compressed', async () => {
  const answer = await it.app.inject({
    url: path(),
    headers: { 'x-project-id': projectId, 'accept-encoding': 'gzip' },
  })
  expect(answer.headers['content-encoding']).toBe('gzip')
  expect(JSON.parse(gunzipSync(answer.rawPayload).toString()).results).toHaveLength(people)
})

test.each([
  [{ page_size: '0' }, 'page_size'],
  [{ page_size: '5001' }, 'page_size'],
  [{ page_size: 'many' }, 'page_size'],
  [{ limit: '5' }, 'limit'],
  [{ cursor: 'abc' }, 'cursor'],
])('400 for %j', async (query, parameter) => {
  const { status, body } = await ask(query as Record<string, string>)
  expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter })
})

test('400 without a project, 404 for no audience, 403 for the project key of another project', async () => {
  expect((await it.app.inject({ url: path() })).json()).toMatchObject({ parameter: 'project_id' })
  expect(await ask({}, {}, path(randomUUID()))).toMatchObject({
    status: 404,
    body: { error: 'audience not found' },
  })
  expect(await ask({}, { 'x-project-key': randomUUID() })).toMatchObject({
    status: 403,
    body: { error: 'access denied' },
  })
  expect((await ask({}, { 'x-project-key': projectId })).status).toBe(200)
})

test('409 not_ready before the first build, 422 for companies', async () => {
  const unbuilt = await it.create(everybody, 'Unbuilt')
  expect(await ask({}, {}, path(unbuilt))).toMatchObject({
    status: 409,
    body: { error: 'not_ready' },
  })
  const companies = await it.create(
    {
      entity: 'companies',
      include: { profile: { field: 'company_domain', op: 'is_set', value: true } },
    },
    'Companies',
  )
  await it.build(companies)
  expect(await ask({}, {}, path(companies))).toMatchObject({
    status: 422,
    body: { error: 'use_download' },
  })
})

test('a cursor is stale once the audience was built anew, and another audience’s is none', async () => {
  const [another, third] = [
    await it.create(everybody, 'Another'),
    await it.create(everybody, 'Third'),
  ]
  for (const id of [another, third]) await it.build(id)
  const { body } = await ask({ page_size: '10' }, {}, path(another))
  const cursor = body.next_cursor
  expect((await ask({ cursor }, {}, path(another))).status).toBe(200)
  expect(await ask({ cursor }, {}, path(third))).toMatchObject({
    status: 400,
    body: { parameter: 'cursor' },
  })
  await it.build(another)
  expect(await ask({ cursor }, {}, path(another))).toMatchObject({
    status: 409,
    body: { error: 'cursor_stale' },
  })
  expect((await ask({}, {}, path(another))).status).toBe(200)
})

test('a person who opts out is on no page and in no count', async () => {
  const id = await it.create(everybody, 'With opt-outs')
  const buildId = await it.build(id)
  const members = await it.membersOf(buildId)
  const gone = [members[2]!, members[11]!]
  for (const hem of gone) await addOptOut(it.postgres, organizationId, { hem })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
  const found = await pages({ page_size: '10' }, path(id))
  expect(found.map(({ results }) => results.length)).toEqual([10, 10, 10, 10, 5])
  for (const page of found) expect(page).toMatchObject({ count: 45, total: 45 })
  expect(found.flatMap(({ results }) => results.map(({ hem }: { hem: string }) => hem))).toEqual(
    members.filter((hem) => !gone.includes(hem)),
  )
  await it.postgres.query('UPDATE opt_outs SET removed_at = now(), is_known_to_clickhouse = false')
  await syncToClickHouse(it.postgres, it.clickhouse.live)
})

test('builds are listed with their counts, the newest first', async () => {
  const id = await it.create(everybody, 'Often built')
  const built = [await it.build(id), await it.build(id), await it.build(id)]
  const [first, second] = await Promise.all([
    ask({ limit: '2' }, {}, `/api/v1/audiences/${id}/builds`),
    ask({}, {}, `/api/v1/audiences/${id}/builds`),
  ])
  expect(second.body.builds.map(({ build_id }: { build_id: string }) => build_id)).toEqual(
    built.toReversed(),
  )
  expect(second.body.builds.map(({ is_served }: { is_served: boolean }) => is_served)).toEqual([
    true,
    false,
    false,
  ])
  expect(second.body.builds[0]).toMatchObject({ status: 'completed', count: people, error: null })
  expect(first.body.builds).toHaveLength(2)
  expect(first.body.next_cursor).toEqual(expect.any(String))
})

test('changes are who entered and who left since the build before', async () => {
  const named = (name: string) => ({
    entity: 'people',
    include: { profile: { field: 'last_name', op: 'eq', value: name } },
  })
  const [stays, enters, leaves] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [
    string,
    string,
    string,
  ]
  const profile = (hem: string, last_name: string) => ({ hem, last_name })
  await it.know({
    profiles: [profile(stays, 'Lee'), profile(leaves, 'Lee'), profile(enters, 'Kim')],
  })
  const id = await it.create(named('Lee'), 'Lees')
  const first = await it.build(id)
  await it.know({ profiles: [profile(leaves, 'Kim'), profile(enters, 'Lee')] })
  const second = await it.build(id)
  const changes = (buildId: string) => `/api/v1/audiences/${id}/builds/${buildId}/changes`
  const found = await pages({ page_size: '1' }, changes(second))
  expect(
    found.flatMap(({ results }) =>
      results.map(({ change, hem }: Record<string, string>) => [change, hem]),
    ),
  ).toEqual([
    ['entered', enters],
    ['left', leaves],
  ])
  expect(found[0]).toMatchObject({ build_id: second, previous_build_id: first })
  const began = await pages({}, changes(first))
  expect(began.flatMap(({ results }) => results)).toHaveLength(2)
  expect(began[0].previous_build_id).toBeNull()
  expect(await ask({}, {}, changes(randomUUID()))).toMatchObject({
    status: 404,
    body: { error: 'build not found' },
  })
})

const lookUp = async (hem: string) => {
  const answer = await it.app.inject({ url: '/api/v1/lookup', query: { hem } })
  return { body: answer.json() }
}

async function servedBuild(): Promise<string> {
  const { rows } = await it.postgres.query<{ current_build_id: string }>(
    'SELECT current_build_id FROM audiences WHERE audience_id = $1',
    [audienceId],
  )
  return rows[0]!.current_build_id
}
