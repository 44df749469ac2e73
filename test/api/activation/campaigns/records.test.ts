import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAudience } from '../../../../collector/audiences/audiences.ts'
import { inTransaction } from '../../../../collector/platform/postgres/transaction.ts'
import { type Headers, openTenants, type Tenants } from '../../../harness/tenants.ts'

let tenants: Tenants
beforeAll(async () => {
  tenants = await openTenants()
})
afterAll(() => tenants.close())

const path = '/api/v1/campaigns'
const get = (suffix = '', query: Record<string, string> = {}, key?: Headers) =>
  tenants.ask(`${path}${suffix}`, query, key)
const send = (method: 'POST' | 'PATCH', suffix: string, json: unknown, key?: Headers) =>
  tenants.ask(`${path}${suffix}`, {}, key, { method, json })

const create = async (json: Record<string, unknown> = {}, key?: Headers) => {
  const { status, body } = await send(
    'POST',
    '',
    { project_id: tenants.first.projectId, name: 'Spring', start_date: '2026-03-01', ...json },
    key,
  )
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.campaign
}

/** An audience of a project. */
const newAudience = (projectId: string): Promise<string> =>
  inTransaction(tenants.postgres, (client) =>
    createAudience(client, projectId, {
      name: 'Visitors',
      definition: { entity: 'people', include: { event: { within_days: 7 } } },
    }),
  )

describe('POST /api/v1/campaigns', () => {
  test('makes a draft without budget and end, and it can be read back', async () => {
    const campaign = await create()
    expect(campaign).toEqual({
      campaign_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      project_id: tenants.first.projectId,
      name: 'Spring',
      status: 'draft',
      budget: null,
      start_date: '2026-03-01',
      end_date: null,
      audience_id: null,
      version: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await get(`/${campaign.campaign_id}`)).body).toEqual({ campaign })
  })

  test('keeps everything that is given', async () => {
    const given = {
      name: 'Été',
      status: 'active',
      budget: 1234.56789,
      end_date: '2026-03-01',
      audience_id: await newAudience(tenants.first.projectId),
    }
    expect(await create(given)).toMatchObject(given)
  })

  test('is shown to an audience of its own project alone, which stays as long', async () => {
    const foreign = await newAudience(tenants.foreign.projectId)
    for (const audience_id of [randomUUID(), foreign]) {
      const json = {
        project_id: tenants.first.projectId,
        name: 'X',
        start_date: '2026-03-01',
        audience_id,
      }
      expect(await send('POST', '', json)).toMatchObject({
        status: 400,
        body: { error: 'invalid_parameter', parameter: 'audience_id' },
      })
    }
    const audience_id = await newAudience(tenants.first.projectId)
    const campaign = await create({ name: 'Shown' })
    const changed = await send('PATCH', `/${campaign.campaign_id}`, { audience_id })
    expect(changed.body.campaign).toMatchObject({ audience_id })
    expect((await send('PATCH', `/${campaign.campaign_id}`, { audience_id: foreign })).status).toBe(
      400,
    )
    const deletion = () =>
      fetch(`${tenants.service.url}/api/v1/audiences/${audience_id}`, {
        method: 'DELETE',
        headers: tenants.keys.organization,
      })
    const refused = await deletion()
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { used_by: [{ campaign_id: campaign.campaign_id, name: 'Shown' }] },
    ])
    await send('PATCH', `/${campaign.campaign_id}`, { audience_id: null })
    expect((await deletion()).status).toBe(204)
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ name: undefined }, 'name'],
    [{ start_date: undefined }, 'start_date'],
    [{ start_date: '2026-02-30' }, 'start_date'],
    [{ start_date: '0000-01-01' }, 'start_date'],
    [{ start_date: 'soon' }, 'start_date'],
    [{ end_date: '2026-02-28' }, 'end_date'],
    [{ budget: -1 }, 'budget'],
    [{ budget: '5' }, 'budget'],
    [{ status: 'running' }, 'status'],
    [{ audience_id: 'all' }, 'audience_id'],
    [{ project_id: undefined }, 'project_id'],
    [{ project_id: 'mine' }, 'project_id'],
    [{ spend: 1 }, 'spend'],
  ])('400 for %j names %s', async (json, parameter) => {
    const { status, body } = await send('POST', '', {
      project_id: tenants.first.projectId,
      name: 'Spring',
      start_date: '2026-03-01',
      ...json,
    })
    expect([status, body.error, body.parameter]).toEqual([400, 'invalid_parameter', parameter])
  })

  test('a project key makes campaigns of its own project only', async () => {
    const key = tenants.keys.second
    expect(await create({ project_id: undefined }, key)).toMatchObject({
      project_id: tenants.second.projectId,
    })
    expect(await create({ project_id: tenants.second.projectId }, key)).toBeTruthy()
    const json = { name: 'Spring', start_date: '2026-03-01', project_id: tenants.first.projectId }
    const { status, body } = await send('POST', '', json, key)
    expect([status, body.error]).toEqual([403, 'project_id does not match API key scope'])
  })
})

describe('PATCH /api/v1/campaigns/{id}', () => {
  const change = async (id: string, json: unknown, key?: Headers) =>
    send('PATCH', `/${id}`, json, key)

  test('changes what is named and leaves the rest', async () => {
    const campaign = await create({ budget: 100, end_date: '2026-03-31' })
    const { body } = await change(campaign.campaign_id, { status: 'paused', budget: null })
    expect(body.campaign).toEqual({
      ...campaign,
      status: 'paused',
      budget: null,
      version: 2,
      updated_at: expect.any(String),
    })
    expect((await get(`/${campaign.campaign_id}`)).body).toEqual(body)
  })

  test('400 when the flight would end before it starts', async () => {
    const { campaign_id } = await create({ end_date: '2026-03-31' })
    const { status, body } = await change(campaign_id, { start_date: '2026-04-01' })
    expect([status, body.parameter]).toEqual([400, 'end_date'])
    expect(
      (await change(campaign_id, { project_id: tenants.second.projectId })).body.parameter,
    ).toBe('project_id')
  })

  test('409 with the campaign as it is, when another change came first', async () => {
    const { campaign_id } = await create()
    // More at once than there are connections to PostgreSQL.
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        change(campaign_id, { name: `${index}`, version: 1 }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(outcomes.filter(({ status }) => status === 409)).toHaveLength(59)
    const lost = outcomes.find(({ status }) => status === 409)!
    expect(lost.body).toMatchObject({ error: 'conflict', campaign: { campaign_id, version: 2 } })
  })

  test('404 for one of another project with a project key, and for one of another organization', async () => {
    const { campaign_id } = await create()
    for (const [id, key] of [
      [campaign_id, tenants.keys.second],
      [campaign_id, tenants.keys.foreign],
      [randomUUID(), undefined],
      ['summer', undefined],
    ] as const) {
      const { status, body } = await change(id, { name: 'mine' }, key)
      expect([status, body.error]).toEqual([404, 'campaign not found'])
    }
    expect((await change(campaign_id, { name: 'ours' }, tenants.keys.first)).status).toBe(200)
  })
})

test('who made and changed a campaign stands in the audit log, what was refused does not', async () => {
  const { campaign_id } = await create({ budget: 100 }, tenants.keys.first)
  await send('PATCH', `/${campaign_id}`, { budget: 200, name: 'Spring' })
  await send('PATCH', `/${campaign_id}`, { budget: 300, version: 1 })
  const { rows } = await tenants.postgres.query(
    `SELECT actor->>'kind' AS actor, action, object_kind, details FROM audit_log
     WHERE object_id = $1 ORDER BY entry_id`,
    [campaign_id],
  )
  expect(rows).toEqual([
    {
      actor: 'key',
      action: 'campaign.create',
      object_kind: 'campaign',
      details: { name: 'Spring' },
    },
    {
      actor: 'key',
      action: 'campaign.update',
      object_kind: 'campaign',
      details: { budget: { from: 100, to: 200 } },
    },
  ])
})

describe('GET /api/v1/campaigns', () => {
  let audience: string
  /** Made in this order, in two projects. */
  let made: { first: string[]; second: string[] }
  const ids = (campaigns: { campaign_id: string }[]) =>
    campaigns.map(({ campaign_id }) => campaign_id)

  beforeAll(async () => {
    // Not the sample's, which other files read.
    const { first, second, foreign } = tenants
    await tenants.postgres.query('DELETE FROM campaigns WHERE project_id = ANY ($1)', [
      [first, second, foreign].map(({ projectId }) => projectId),
    ])
    audience = await newAudience(tenants.first.projectId)
    made = { first: [], second: [] }
    for (const index of [0, 1, 2, 3, 4]) {
      const status = index < 2 ? 'active' : 'paused'
      made.first.unshift(
        (await create({ status, audience_id: index === 0 ? audience : null })).campaign_id,
      )
    }
    for (const _ of [0, 1]) {
      made.second.unshift((await create({ project_id: tenants.second.projectId })).campaign_id)
    }
    await create({ project_id: tenants.foreign.projectId }, tenants.keys.foreign)
  })

  test('lists every project’s, newest first, or one project’s', async () => {
    expect(ids((await get()).body.campaigns)).toEqual([...made.second, ...made.first])
    expect(ids((await get('', { project_id: tenants.first.projectId })).body.campaigns)).toEqual(
      made.first,
    )
  })

  test('pages by next_cursor', async () => {
    const found: string[] = []
    let query: Record<string, string> = { limit: '3' }
    for (let pages = 0; pages < 3; pages++) {
      const { body } = await get('', query)
      found.push(...ids(body.campaigns))
      if (pages === 2) expect(body).not.toHaveProperty('next_cursor')
      query = { limit: '3', cursor: body.next_cursor }
    }
    expect(found).toEqual([...made.second, ...made.first])
    expect((await get('', { cursor: 'x' })).body.parameter).toBe('cursor')
  })

  test('filters by status, campaign and audience', async () => {
    expect(ids((await get('', { status: 'active' })).body.campaigns)).toEqual(made.first.slice(3))
    expect(ids((await get('', { audience_id: audience })).body.campaigns)).toEqual([
      made.first.at(-1),
    ])
    expect(ids((await get('', { campaign_id: made.first[1]! })).body.campaigns)).toEqual([
      made.first[1],
    ])
    expect((await get('', { campaign_id: randomUUID() })).body.campaigns).toEqual([])
    expect((await get('', { campaign_id: 'summer' })).body.parameter).toBe('campaign_id')
  })

  test('a project key without project_id gets its project’s; with another 403', async () => {
    expect(ids((await get('', {}, tenants.keys.second)).body.campaigns)).toEqual(made.second)
    const { status, body } = await get(
      '',
      { project_id: tenants.first.projectId },
      tenants.keys.second,
    )
    expect([status, body.error]).toEqual([403, 'project_id does not match API key scope'])
  })

  test('403 for a project key’s filters by campaign and audience, also by its own', async () => {
    for (const suffix of ['', '/performance-summary', '/budget-summary']) {
      for (const query of [{ campaign_id: made.second[0]! }, { audience_id: audience }]) {
        const { status, body } = await get(
          suffix,
          query as Record<string, string>,
          tenants.keys.second,
        )
        expect([status, body.error]).toEqual([403, 'forbidden'])
      }
    }
  })

  test('404 by id for another project’s with a project key', async () => {
    for (const suffix of ['', '/performance', '/budget-status']) {
      const { status, body } = await get(`/${made.first[0]}${suffix}`, {}, tenants.keys.second)
      expect([status, body.error]).toEqual([404, 'campaign not found'])
      expect((await get(`/${made.first[0]}${suffix}`, {}, tenants.keys.first)).status).toBe(200)
      expect((await get(`/${made.first[0]}${suffix}`, {}, tenants.keys.foreign)).status).toBe(404)
    }
  })

  test('an API key in the Authorization header is good here, with its secret', async () => {
    const { 'x-api-key': key, 'x-api-secret': secret } = tenants.keys.organization
    const bearer = { authorization: `Bearer ${key}`, 'x-api-secret': secret! }
    expect(ids((await get('', {}, bearer)).body.campaigns)).toHaveLength(7)
    expect((await get('', {}, { authorization: `Bearer ${key}` })).body.error).toBe(
      'API secret is required',
    )
  })
})
