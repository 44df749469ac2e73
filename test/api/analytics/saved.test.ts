import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../../collector/accounts/keys/apiKeys.ts'
import { savedItemsMax } from '../../../collector/analytics/saved/savedItems.ts'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { openEvents, organizationId, projectId, type Row } from '../events/harness.ts'

/** Segments, funnels and annotations of a project, over HTTP. */
let events: Awaited<ReturnType<typeof openEvents>>
const other = { organization: randomUUID(), project: randomUUID() }
const secondProject = randomUUID()
const keys = {
  read: newApiCredentials('live'),
  write: newApiCredentials('live'),
  ofSecondProject: newApiCredentials('live'),
  stranger: newApiCredentials('live'),
}

beforeAll(async () => {
  // Callers are authenticated as in the service.
  events = await openEvents({ isGuarded: true, env: { FOOTFALL_RATE_LIMITS: 'false' } })
  const { postgres } = events
  for (const [organization, projects] of [
    [organizationId, [projectId, secondProject]],
    [other.organization, [other.project]],
  ] as const) {
    await storeOrganization(postgres, organization)
    for (const project of projects) await storeProject(postgres, project, organization)
  }
  const store = (
    key: keyof typeof keys,
    role: 'read' | 'write',
    owner = { organizationId, projectId: null as string | null },
  ) =>
    storeApiKey(postgres, owner, 'live', key, keys[key], {
      keyId: randomUUID(),
      role,
      maker: null,
    })
  await store('read', 'read')
  await store('write', 'write')
  await store('ofSecondProject', 'write', { organizationId, projectId: secondProject })
  await store('stranger', 'write', { organizationId: other.organization, projectId: null })
})
afterAll(() => events.close())

type Key = keyof typeof keys
const ask = async (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  { as = 'write', body, query = {} }: { as?: Key; body?: Row; query?: Record<string, string> } = {},
) => {
  const { apiKey, apiSecret } = keys[as]
  const answer = await events.app.inject({
    method,
    url: `/api/v1/analytics/${path}`,
    query,
    headers: { 'x-api-key': apiKey, 'x-api-secret': apiSecret },
    ...(body && { payload: body }),
  })
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
}

const kinds = [
  {
    plural: 'segments',
    kind: 'segment',
    content: { name: 'Phones', filter: 'device_type:eq:mobile' },
    change: { filter: 'device_type:in:mobile|tablet' },
    wrong: { filter: 'hem:ne:x' },
  },
  {
    plural: 'funnels',
    kind: 'funnel',
    content: {
      name: 'Orders',
      steps: ['page_path:eq:/', 'event_type:eq:form_submission'],
      within_ms: 60_000,
    },
    change: { steps: ['page_path:eq:/cart', 'page_path:eq:/thanks'] },
    wrong: { steps: ['page_path:eq:/', 'nothing'] },
  },
  {
    plural: 'annotations',
    kind: 'annotation',
    content: { at: '2026-03-01T09:00:00Z', text: 'New prices' },
    change: { text: 'New prices in euros' },
    wrong: { at: 'yesterday' },
  },
] as const

describe.each(kinds)('$plural', ({ plural, kind, content, change, wrong }) => {
  test('are created, listed, changed with a version and deleted, and the audit log names each change', async () => {
    const list = { query: { project_id: projectId }, as: 'read' as const }
    expect(await ask('GET', plural, list)).toMatchObject({ status: 200, body: { [plural]: [] } })
    const created = await ask('POST', plural, { body: { project_id: projectId, ...content } })
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    const item = created.body[kind]
    expect(item).toMatchObject({
      ...content,
      project_id: projectId,
      created_by: 'write',
      version: 1,
    })
    const id = item[`${kind}_id`]
    expect((await ask('GET', plural, list)).body[plural]).toEqual([item])

    const changed = await ask('PATCH', `${plural}/${id}`, { body: { ...change, version: 1 } })
    expect(changed.body[kind]).toMatchObject({ ...content, ...change, version: 2 })
    const late = await ask('PATCH', `${plural}/${id}`, { body: { ...change, version: 1 } })
    expect(late).toMatchObject({ status: 409, body: { code: 'version_conflict' } })

    expect((await ask('DELETE', `${plural}/${id}`)).status).toBe(204)
    expect((await ask('GET', plural, list)).body[plural]).toEqual([])
    expect(await ask('DELETE', `${plural}/${id}`)).toMatchObject({
      status: 404,
      body: { error: `${kind} not found` },
    })
    const { rows } = await events.postgres.query(
      'SELECT action FROM audit_log WHERE object_id = $1 ORDER BY entry_id',
      [id],
    )
    expect(rows.map(({ action }) => action)).toEqual([
      `${kind}.create`,
      `${kind}.update`,
      `${kind}.delete`,
    ])
  })

  test('are refused with a wrong field, which the answer names, and a change keeps the rest', async () => {
    const refused = await ask('POST', plural, {
      body: { project_id: projectId, ...content, ...wrong },
    })
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_parameter' } })
    expect(refused.body.parameter).toContain(Object.keys(wrong)[0])
    const { body } = await ask('POST', plural, { body: { project_id: projectId, ...content } })
    const id = body[kind][`${kind}_id`]
    expect((await ask('PATCH', `${plural}/${id}`, { body: wrong })).status).toBe(400)
    const list = await ask('GET', plural, { query: { project_id: projectId } })
    expect(list.body[plural]).toEqual([body[kind]])
  })

  test('of a project are read by its readers and changed by its admins alone, as what they are', async () => {
    const { body } = await ask('POST', plural, { body: { project_id: projectId, ...content } })
    const one = `${plural}/${body[kind][`${kind}_id`]}`
    const asReader = { as: 'read', body: { project_id: projectId, ...content } } as const
    expect((await ask('POST', plural, asReader)).status).toBe(403)
    expect((await ask('PATCH', one, { as: 'read', body: change })).status).toBe(403)
    for (const as of ['ofSecondProject', 'stranger'] as const) {
      expect((await ask('GET', plural, { as, query: { project_id: projectId } })).status).toBe(404)
      expect((await ask('PATCH', one, { as, body: change })).status).toBe(404)
      expect((await ask('DELETE', one, { as })).status).toBe(404)
    }
    const named = await ask('DELETE', one, { query: { project_id: secondProject } })
    expect(named.status).toBe(404)
    for (const other of kinds.filter((each) => each.kind !== kind)) {
      const asOther = await ask('DELETE', one.replace(plural, other.plural))
      expect(asOther).toMatchObject({ status: 404, body: { error: `${other.kind} not found` } })
    }
    const list = await ask('GET', plural, { query: { project_id: projectId } })
    expect(list.body[plural]).toContainEqual(body[kind])
  })
})

test('a project has a limited number of each kind', async () => {
  await events.postgres.query(
    `INSERT INTO saved_items (project_id, kind, content)
     SELECT $1, 'annotation', '{"at": "2026-03-01T09:00:00Z", "text": "x"}' FROM generate_series(1, $2)`,
    [secondProject, savedItemsMax],
  )
  const body = { project_id: secondProject, at: '2026-03-01T09:00:00Z', text: 'One more' }
  expect(await ask('POST', 'annotations', { body })).toMatchObject({
    status: 409,
    body: { code: 'count_limit_reached' },
  })
})
