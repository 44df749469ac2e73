// biome-ignore-all lint/suspicious/noExplicitAny: what a test expects of an answer is what it checks.
/** Audiences as records: who may do what, what is refused, what of them is left when their project goes. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sampleIdentity } from '../../../collector/api/access/sandboxTenant.ts'
import { openCursors } from '../../../collector/api/http/cursors.ts'
import { buildNow } from '../../../collector/audiences/builder/buildNow.ts'
import { requestBuild } from '../../../collector/audiences/builds.ts'
import { fileQueues } from '../../../collector/audiences/files/audienceFiles.ts'
import { openDirectoryStore } from '../../../collector/audiences/files/fileStore.ts'
import { templates } from '../../../collector/audiences/templates.ts'
import { personFields } from '../../../collector/identity/store/people.ts'
import {
  ensureSampleAudiences,
  sampleAudiences,
} from '../../../collector/ops/sandbox/sampleAudiences.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { jobOf } from '../../harness/job.ts'
import { storeProject } from '../../harness/owners.ts'
import { insertRows } from '../../harness/rows.ts'
import type { Tenant } from '../../spec/tenant.ts'
import { openTenants, withKey } from '../../spec/tenants.ts'

const visit = { event: { within_days: 7 } }
const visitors = { entity: 'people', include: visit }
const interested = { entity: 'people', include: { any: [visit, { intent: { topics: ['wine'] } }] } }

let service: Awaited<ReturnType<typeof openTenants>>
let ours: Tenant
let theirs: Tenant
beforeAll(async () => {
  service = await openTenants({ sampleDays: 30 })
  ;({ ours, theirs } = service)
})
afterAll(() => service.close())

interface Asked {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  project?: string | null
  key?: Tenant['key']
  query?: Record<string, string>
  body?: unknown
}

/** Asks with the organization's key about its first project, unless told otherwise; null names no project. */
async function ask(path: string, { method = 'GET', project, key, query = {}, body }: Asked = {}) {
  const answer = await service.app.inject({
    method,
    url: `/api/v1/audiences${path}`,
    query,
    headers: {
      ...withKey(key ?? ours.key),
      ...(project !== null && { 'x-project-id': project ?? ours.projects[0] }),
    },
    ...(body !== undefined && { payload: body as object }),
  })
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
}

async function create(
  definition: unknown = visitors,
  more: object = {},
  asked: Asked = {},
): Promise<any> {
  const { status, body } = await ask('', {
    method: 'POST',
    body: { name: 'New', definition, ...more },
    ...asked,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.audience
}

beforeEach(async () => {
  for (const table of ['exports', 'audiences'])
    await service.postgres.query(`DELETE FROM ${table} WHERE project_id = ANY($1)`, [ours.projects])
})

describe('an audience', () => {
  test('is created with all that its answer says, and its first build waits', async () => {
    const audience = await create(visitors, { intent_window_days: 14, refresh: 'daily' })
    expect(audience).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      project_id: ours.projects[0],
      name: 'New',
      entity: 'people',
      definition: visitors,
      intent_window_days: 14,
      refresh: 'daily',
      bucket_counts: { low: 0, medium: 0, high: 0 },
      count: null,
      meter: 'audience',
      status: 'pending',
      build_id: null,
      built_at: null,
      version: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await ask(`/${audience.id}`)).body).toEqual({ audience })
    const { rows } = await service.postgres.query(
      'SELECT status, definition, intent_window_days FROM audience_builds WHERE audience_id = $1',
      [audience.id],
    )
    expect(rows).toEqual([{ status: 'pending', definition: visitors, intent_window_days: 14 }])
  })

  test('keeps 30 days of intent where nothing is said', async () => {
    expect(await create()).toMatchObject({ intent_window_days: 30, refresh: 'manual' })
  })

  test.each([
    ['no name', { definition: visitors }, 'name'],
    ['no definition', { name: 'New' }, 'definition'],
    [
      'a window of 0 days',
      { name: 'New', definition: visitors, intent_window_days: 0 },
      'intent_window_days',
    ],
    [
      'a window of 366 days',
      { name: 'New', definition: visitors, intent_window_days: 366 },
      'intent_window_days',
    ],
    ['an unknown member', { name: 'New', definition: visitors, colour: 'red' }, 'colour'],
    ['an unknown refresh', { name: 'New', definition: visitors, refresh: 'often' }, 'refresh'],
  ])('is refused with %s', async (_, body, parameter) => {
    expect(await ask('', { method: 'POST', body })).toMatchObject({
      status: 400,
      body: { error: 'invalid_parameter', parameter },
    })
  })

  test('is refused with a definition that cannot be, with its pointer', async () => {
    const definition = {
      entity: 'people',
      include: { all: [visit, { profile: { field: 'shoe', op: 'eq', value: 1 } }] },
    }
    for (const [path, method] of [
      ['', 'POST'],
      ['/sample', 'POST'],
    ] as const) {
      const answer = await ask(path, {
        method,
        body: { ...(path === '' && { name: 'New' }), definition },
      })
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'invalid_parameter', pointer: '/definition/include/all/1/profile/field' },
      })
    }
  })

  test('is listed page by page, oldest first', async () => {
    const ids = []
    for (let n = 0; n < 5; n++) ids.push((await create()).id)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { body } = await ask('', { query: { limit: '2', ...(cursor && { cursor }) } })
      seen.push(...body.audiences.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor
    } while (cursor)
    expect(seen).toEqual(ids)
    expect((await ask('', { project: ours.projects[1] })).body.audiences).toEqual([])
  })

  test('that does not exist, or is another organization’s, is not found', async () => {
    for (const id of [randomUUID(), 'mine', theirs.audiences[0]]) {
      for (const method of ['GET', 'DELETE', 'PATCH'] as const) {
        const answer = await ask(`/${id}`, {
          method,
          ...(method === 'PATCH' && { body: { name: 'Mine' } }),
        })
        expect(answer).toMatchObject({ status: 404, body: { error: 'audience not found' } })
      }
    }
  })
})

describe('a change', () => {
  test('of the name changes the version alone', async () => {
    const { id } = await create()
    const { body } = await ask(`/${id}`, { method: 'PATCH', body: { name: 'Renamed', version: 1 } })
    expect(body.audience).toMatchObject({ id, name: 'Renamed', version: 2, definition: visitors })
    expect(await buildsOf(id)).toHaveLength(1)
  })

  test.each([
    ['definition', { definition: { ...interested, limit: 5 } }],
    ['window of an intent leaf', { intent_window_days: 90 }],
  ])(
    'of the %s has it built anew, and the build before is served until then',
    async (_, change) => {
      const { id } = await create(interested)
      const built = await pretendBuilt(id)
      const { body } = await ask(`/${id}`, { method: 'PATCH', body: change })
      expect(body.audience).toMatchObject({
        ...change,
        status: 'pending',
        build_id: built,
        count: 0,
      })
      expect(await buildsOf(id)).toHaveLength(2)
      // One that waits becomes the newest.
      await ask(`/${id}`, { method: 'PATCH', body: { intent_window_days: 91 } })
      expect((await buildsOf(id)).map(({ intent_window_days }) => intent_window_days)).toEqual([
        30, 91,
      ])
    },
  )

  test('of an earlier version is a conflict that shows the audience as it is', async () => {
    const audience = await create()
    await ask(`/${audience.id}`, { method: 'PATCH', body: { name: 'First' } })
    const answer = await ask(`/${audience.id}`, {
      method: 'PATCH',
      body: { name: 'Second', version: 1 },
    })
    expect(answer).toMatchObject({
      status: 409,
      body: { error: 'conflict', audience: { id: audience.id, name: 'First', version: 2 } },
    })
  })

  test('of the entity is refused', async () => {
    const { id } = await create()
    const definition = { entity: 'companies', include: visit }
    expect(await ask(`/${id}`, { method: 'PATCH', body: { definition } })).toMatchObject({
      status: 400,
      body: { pointer: '/definition/entity' },
    })
  })
})

describe('what a definition names', () => {
  const using = (audience_id: string) => ({
    entity: 'people',
    include: { audience: { audience_id } },
  })
  const pointer = '/definition/include/audience/audience_id'

  test('is an audience of the project, of the same entity', async () => {
    const companies = await create({ entity: 'companies', include: visit })
    const elsewhere = await create(visitors, {}, { project: ours.projects[1] })
    for (const id of [randomUUID(), elsewhere.id, companies.id, theirs.audiences[0]]) {
      const answer = await ask('', { method: 'POST', body: { name: 'New', definition: using(id) } })
      expect(answer).toMatchObject({ status: 400, body: { pointer } })
    }
    await create(using((await create()).id))
  })

  test('is never itself, through however many others', async () => {
    const first = await create()
    const second = await create(using(first.id))
    const third = await create(using(second.id))
    for (const id of [first.id, second.id, third.id]) {
      const answer = await ask(`/${first.id}`, { method: 'PATCH', body: { definition: using(id) } })
      expect(answer).toMatchObject({ status: 400, body: { pointer } })
      expect(answer.body.message).toMatch(/use itself/)
    }
  })

  test('makes no cycle when two are changed at once', async () => {
    const [a, b] = [await create(), await create()]
    const answers = await Promise.all([
      ask(`/${a.id}`, { method: 'PATCH', body: { definition: using(b.id) } }),
      ask(`/${b.id}`, { method: 'PATCH', body: { definition: using(a.id) } }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('cannot be deleted, and the answer says what uses it', async () => {
    const used = await create()
    const user = await create(using(used.id), { name: 'The user' })
    const answer = await ask(`/${used.id}`, { method: 'DELETE' })
    expect(answer).toMatchObject({ status: 409, body: { error: 'conflict' } })
    expect(answer.body.used_by).toEqual([{ audience_id: user.id, name: 'The user' }])
    expect(answer.body.message).toContain('The user')
    // Once nobody uses it any longer it can.
    await ask(`/${user.id}`, { method: 'PATCH', body: { definition: visitors } })
    expect(await ask(`/${used.id}`, { method: 'DELETE' })).toEqual({ status: 204, body: null })
    expect((await ask(`/${used.id}`)).status).toBe(404)
  })

  test('is a pixel of the project, whose id becomes lower case', async () => {
    const event = (pixel_id: string) => ({
      entity: 'people',
      include: { event: { within_days: 1, pixel_id } },
    })
    const [pixelId] = ours.pixels
    const { id, definition } = await create(event(pixelId.toUpperCase()))
    expect(definition).toEqual(event(pixelId))
    const change = { definition: event(pixelId.toUpperCase()) }
    const changed = await ask(`/${id}`, { method: 'PATCH', body: change })
    expect(changed.body.audience.definition).toEqual(event(pixelId))
    for (const id of [ours.pixels[1], theirs.pixels[0], randomUUID()]) {
      const answer = await ask('', { method: 'POST', body: { name: 'New', definition: event(id) } })
      expect(answer).toMatchObject({
        status: 400,
        body: { pointer: '/definition/include/event/pixel_id' },
      })
    }
  })
})

describe('a clone', () => {
  test('is the same under another name and id, in the same project or another', async () => {
    const original = await create(visitors, { name: 'First', intent_window_days: 9 })
    const same = await ask(`/${original.id}/clone`, { method: 'POST', body: {} })
    expect(same).toMatchObject({
      status: 201,
      body: {
        audience: {
          name: 'First (copy)',
          project_id: ours.projects[0],
          intent_window_days: 9,
          version: 1,
        },
      },
    })
    expect(same.body.audience.id).not.toBe(original.id)
    const other = await ask(`/${original.id}/clone`, {
      method: 'POST',
      body: { name: 'Second', project_id: ours.projects[1] },
    })
    expect(other).toMatchObject({
      status: 201,
      body: { audience: { name: 'Second', project_id: ours.projects[1], status: 'pending' } },
    })
  })

  test('into another project is refused where the definition names what is not there', async () => {
    const used = await create()
    const user = await create({ entity: 'people', include: { audience: { audience_id: used.id } } })
    const answer = await ask(`/${user.id}/clone`, {
      method: 'POST',
      body: { project_id: ours.projects[1] },
    })
    expect(answer).toMatchObject({
      status: 400,
      body: { pointer: '/definition/include/audience/audience_id' },
    })
  })

  test('into another project than its own is denied to a project key', async () => {
    const original = await create(visitors, {}, { project: ours.projects[1] })
    for (const project of [ours.projects[1], null]) {
      const answer = await ask(`/${original.id}/clone`, {
        method: 'POST',
        key: ours.projectKey,
        project,
        body: { project_id: ours.projects[0] },
      })
      expect(answer).toMatchObject({ status: 403, body: { error: 'access denied' } })
    }
  })
})

describe('the project', () => {
  test('is missing: 400 that says so, on create, list and sample', async () => {
    const body = { name: 'New', definition: visitors }
    for (const [path, asked] of [
      ['', { method: 'POST', body }],
      ['', {}],
      ['/sample', { method: 'POST', body: { definition: visitors } }],
    ] as const) {
      const answer = await ask(path, { ...asked, project: null })
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'invalid_parameter', parameter: 'project_id' },
      })
      expect(answer.body.message).toMatch(/is required.*X-Project-Id/)
    }
  })

  test('is named by header, query or body, and by two of them only if they agree', async () => {
    const [project, other] = ours.projects
    const body = { name: 'New', definition: visitors }
    for (const asked of [
      { query: { project_id: project }, body },
      { body: { ...body, project_id: project } },
      { body: { ...body, project_id: project }, query: { project_id: project.toUpperCase() } },
    ]) {
      expect(await ask('', { method: 'POST', project: null, ...asked })).toMatchObject({
        status: 201,
      })
    }
    expect(
      await ask('', { method: 'POST', project: other, body: { ...body, project_id: project } }),
    ).toMatchObject({
      status: 400,
      body: { parameter: 'project_id' },
    })
  })

  test('of a project key must be its own, and be named, on every route but schema and templates', async () => {
    const own = await create(visitors, {}, { project: ours.projects[1] })
    const routes = [
      ['', { method: 'POST', body: { name: 'New', definition: visitors } }],
      ['', {}],
      ['/sample', { method: 'POST', body: { definition: visitors } }],
      [`/${own.id}`, {}],
      [`/${own.id}`, { method: 'PATCH', body: { name: 'Renamed' } }],
      [`/${own.id}/clone`, { method: 'POST', body: {} }],
      [`/${own.id}`, { method: 'DELETE' }],
    ] as const
    const key = ours.projectKey
    for (const [path, asked] of routes) {
      expect(await ask(path, { ...asked, key, project: ours.projects[0] })).toMatchObject({
        status: 403,
        body: { error: 'access denied' },
      })
      expect(await ask(path, { ...asked, key, project: null })).toMatchObject({
        status: 400,
        body: { parameter: 'project_id' },
      })
      expect((await ask(path, { ...asked, key, project: ours.projects[1] })).status).toBeLessThan(
        300,
      )
    }
    for (const path of ['/schema', '/templates'])
      expect(await ask(path, { key, project: null })).toMatchObject({ status: 200 })
  })

  test('that is deleted takes its audiences along, whatever they use', async () => {
    const project = randomUUID()
    await storeProject(service.postgres, project, ours.organizationId, 'Short')
    const used = await create(visitors, {}, { project })
    await create(
      { entity: 'people', include: { audience: { audience_id: used.id } } },
      {},
      { project },
    )
    const answer = await service.app.inject({
      method: 'DELETE',
      url: '/api/v1/project/delete',
      headers: withKey(ours.key),
      payload: { project_id: project, events: 'keep' },
    })
    expect(answer.statusCode).toBe(200)
    expect((await ask(`/${used.id}`, { project: null })).status).toBe(404)
  })
})

test('a key that may only read changes nothing', async () => {
  await service.postgres.query(
    "UPDATE api_keys SET role = 'read' WHERE name = 'key' AND organization_id = $1",
    [theirs.organizationId],
  )
  const answer = await ask('', {
    method: 'POST',
    key: theirs.key,
    project: theirs.projects[0],
    body: { name: 'New', definition: visitors },
  })
  expect(answer).toMatchObject({ status: 403, body: { error: 'forbidden' } })
})

test('every change is in the audit log', async () => {
  const { id } = await create(visitors, { name: 'Logged' })
  await ask(`/${id}`, { method: 'PATCH', body: { name: 'Relogged' } })
  const { body } = await ask(`/${id}/clone`, { method: 'POST', body: {} })
  await ask(`/${id}`, { method: 'DELETE' })
  const { rows } = await service.postgres.query(
    `SELECT action, object_id, details FROM audit_log WHERE object_kind = 'audience' AND object_id IN ($1, $2) ORDER BY entry_id`,
    [id, body.audience.id],
  )
  expect(rows).toEqual([
    { action: 'audience.create', object_id: id, details: { name: 'Logged' } },
    {
      action: 'audience.update',
      object_id: id,
      details: { name: { from: 'Logged', to: 'Relogged' } },
    },
    {
      action: 'audience.clone',
      object_id: body.audience.id,
      details: { name: 'Relogged (copy)', of: id },
    },
    { action: 'audience.delete', object_id: id, details: { name: 'Relogged' } },
  ])
})

describe('a sample', () => {
  const at = (company_domain: string) => ({
    profile: { field: 'company_domain', op: 'eq', value: company_domain },
  })
  const sampleOf = (include: object) =>
    ask('/sample', { method: 'POST', body: { definition: { entity: 'people', include } } })
  beforeAll(async () => {
    const profiles = Array.from({ length: 30 }, (_, index) => ({
      hem: hemOf(`${index}@small.example`),
      first_name: `Somebody ${index}`,
      company_domain: 'small.example',
      company_employee_count: 437,
      email: `${index}@known.example`,
      mobile_phone: `+49${index}`,
      birth_year: 1957,
      children_count: 2,
      home_latitude: 50.7374,
      job_title: `Potter (pots@known.example)`,
      job_seniority: 'manager',
    }))
    await insertRows(service.stores.live, 'profiles', profiles)
  })

  test('counts all members and shows 25 of them with masked values, the same ones all day; it costs nothing', async () => {
    const { status, body } = await sampleOf(at('small.example'))
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { estimate: { count: 30 }, records_to_charge: 30, meter: 'audience' },
    })
    expect(body.sample).toHaveLength(25)
    for (const row of body.sample) {
      expect(Object.keys(row)).toEqual(personFields.map(({ name }) => name))
      expect(row).toMatchObject({
        hem: '***',
        first_name: '***',
        last_name: null,
        email: '***',
        mobile_phone: '***',
        birth_year: 1950,
        children_count: '***',
        home_latitude: 51,
        job_title: 'Potter ***',
        job_seniority: 'manager',
        company_domain: 'small.example',
        company_employee_count: 400,
      })
    }
    expect(JSON.stringify(body)).not.toMatch(/[0-9a-f]{64}|known\.example|Somebody|\+49/)
    expect((await sampleOf(at('small.example'))).body).toEqual(body)
    const { rows } = await service.postgres.query(
      'SELECT count(*)::int AS charged FROM ledger WHERE organization_id = $1',
      [ours.organizationId],
    )
    expect(rows).toEqual([{ charged: 0 }])
  })

  test('counts at most the limit of the definition', async () => {
    const definition = { entity: 'people', include: at('small.example'), limit: 7 }
    const { body } = await ask('/sample', { method: 'POST', body: { definition } })
    expect(body).toMatchObject({ estimate: { count: 7 }, records_to_charge: 7 })
    expect(body.sample).toHaveLength(7)
  })

  test('of an audience that is not built yet is a conflict', async () => {
    const used = await create()
    const definition = { entity: 'people', include: { audience: { audience_id: used.id } } }
    expect(await ask('/sample', { method: 'POST', body: { definition } })).toMatchObject({
      status: 409,
      body: { error: 'conflict' },
    })
  })

  test.each(templates.map(({ template_id, definition }) => [template_id, definition] as const))(
    'of the template %s finds somebody in the sample data',
    async (_, definition) => {
      for (const project of [sampleIdentity.projectId, ours.projects[0]]) {
        const { status, body } = await ask('/sample', {
          method: 'POST',
          key: ours.testKey,
          project,
          body: { definition },
        })
        expect({ status, body }).toMatchObject({ status: 200 })
        expect(body.estimate.count).toBeGreaterThan(0)
        expect(body.sample.length).toBe(Math.min(body.estimate.count, 25))
      }
    },
  )
})

test('a test key reads three audiences that are built from the sample data, the same ones however often they are', async () => {
  const { postgres, stores } = service
  // Several processes may start at once.
  await Promise.all([1, 2].map(() => ensureSampleAudiences(postgres)))
  const asked = { key: ours.testKey, project: ours.projects[0] }
  // The sample goes on: some of its events of today are yet to come.
  const now = Date.now()
  const build = async () => {
    for (const { audienceId } of sampleAudiences)
      await buildNow(
        { postgres, clickhouse: stores },
        await requestBuild(postgres, audienceId),
        now,
      )
    return (await ask('', asked)).body.audiences
  }
  const audiences = await build()
  expect(audiences.map(({ id }: { id: string }) => id)).toEqual(
    sampleAudiences.map(({ audienceId }) => audienceId),
  )
  for (const audience of audiences) {
    expect(audience).toMatchObject({
      status: 'completed',
      project_id: ours.projects[0],
      refresh: 'daily',
    })
    expect(audience.count).toBeGreaterThan(0)
  }
  const counts = (await build()).map(({ count }: { count: number }) => count)
  expect(counts).toEqual(audiences.map(({ count }: { count: number }) => count))
  expect((await ask(`/${sampleAudiences[0].audienceId}`)).status).toBe(404)

  const download = () => ask(`/${sampleAudiences[0].audienceId}/download`, asked)
  expect((await download()).body.status).toBe('pending')
  const directory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
  const files = fileQueues({
    postgres,
    clickhouse: stores,
    temporaryDirectory: directory,
    store: openDirectoryStore(directory, 'http://127.0.0.1', openCursors(randomBytes(32))),
  })
  const { rows } = await postgres.query<{ file_id: string }>('SELECT file_id FROM audience_files')
  const write = files.find(({ name }) => name === 'audiences.file')!
  for (const { file_id: key } of rows) await write.run(jobOf(key, true))
  expect((await download()).body).toMatchObject({ status: 'ready', count: counts[0], charged: 0 })
  rmSync(directory, { recursive: true })
})

test('a test key is answered as a live one, and changes nothing', async () => {
  const stored = () => service.postgres.query('SELECT audience_id, name FROM audiences ORDER BY 1')
  const { rows } = await stored()
  const answer = await ask('', {
    method: 'POST',
    key: ours.testKey,
    project: sampleIdentity.projectId,
    body: { name: 'New', definition: visitors },
  })
  expect(answer).toMatchObject({
    status: 201,
    body: { audience: { id: sampleIdentity.audienceId, name: 'New' } },
  })
  expect((await stored()).rows).toEqual(rows)
})

const buildsOf = async (
  audienceId: string,
): Promise<{ build_id: string; intent_window_days: number }[]> =>
  (
    await service.postgres.query(
      'SELECT build_id, intent_window_days FROM audience_builds WHERE audience_id = $1 ORDER BY number',
      [audienceId],
    )
  ).rows

/** As a build that was completed leaves it. */
async function pretendBuilt(audienceId: string): Promise<string> {
  const { build_id } = (await buildsOf(audienceId))[0]!
  await service.postgres.query(
    `UPDATE audience_builds SET status = 'completed', count = 0, completed_at = now() WHERE build_id = $1`,
    [build_id],
  )
  await service.postgres.query(
    'UPDATE audiences SET current_build_id = $2 WHERE audience_id = $1',
    [audienceId, build_id],
  )
  return build_id
}
