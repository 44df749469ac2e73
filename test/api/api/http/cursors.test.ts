import { randomUUID } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { beforeAll, expect, test } from 'vitest'
import { createAudience } from '../../../../collector/audiences/audiences.ts'
import { buildNow } from '../../../../collector/audiences/builder/buildNow.ts'
import { requestBuild } from '../../../../collector/audiences/builds.ts'
import { inTransaction } from '../../../../collector/platform/postgres/transaction.ts'
import { tiers } from '../../../../schemas/fields.ts'
import { insertRows } from '../../../harness/rows.ts'
import type { Tenant } from '../../../spec/tenant.ts'
import { tenantsOfWorker, withKey } from '../../../spec/tenants.ts'
import { eventOf } from '../../events/harness.ts'

/*
 * Every list gives its pages by the same rule: `cursor` and `next_cursor`, opaque and signed.
 */

const api = await tenantsOfWorker()
const { ours, theirs } = api

/** A page of one row of each list, as a tenant asks for it. */
const byProject = ({ projects: [project_id] }: Tenant) => ({ project_id })
const anything = () => ({})
/** The audience of each tenant that has members, and its build. */
const built = new Map<Tenant, { audience_id: string; build_id: string }>()
const ofAudience = (tenant: Tenant) => ({ ...byProject(tenant), ...built.get(tenant)! })
const lists = new Map<string, (tenant: Tenant) => Record<string, string>>([
  ...tiers.map((tier) => [`GET /api/v3/events/${tier}`, byProject] as const),
  ['GET /api/v1/campaigns', anything],
  ['GET /api/v1/campaigns/performance-summary', anything],
  ['GET /api/v1/campaigns/budget-summary', anything],
  ['POST /api/v1/contact/query', () => ({ filter: 'first_name:eq:Somebody' })],
  ['GET /api/v1/project/list', anything],
  ['GET /api/v1/pixel/list', byProject],
  ['GET /api/v1/organization/user/list', anything],
  ['GET /api/v1/project/user/list', byProject],
  ['GET /api/v1/privacy/erasures', anything],
  ['GET /api/v1/privacy/opt-outs', anything],
  ['GET /dashboard/audit', anything],
  ['GET /api/v1/audiences', byProject],
  ['GET /api/v1/audiences/:audience_id/builds', ofAudience],
  ['GET /api/v1/audiences/:audience_id/records', ofAudience],
  ['GET /api/v1/audiences/:audience_id/builds/:build_id/changes', ofAudience],
])

/** Lists of which a page of one may follow a page of another: they are the same rows in the same order. */
const familyOf = (list: string) => list.match(/v3\/events|campaigns/)?.[0] ?? list

const sessions = new Map<Tenant, Record<string, string>>()

beforeAll(async () => {
  const rows: object[] = []
  for (const tenant of [ours, theirs]) {
    const { organizationId, projects, owner, member } = tenant
    sessions.set(tenant, await api.withSession(owner))
    const add = (sql: string, values: unknown[]) => api.postgres.query(sql, values)
    await add(`INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, 'Second')`, [
      randomUUID(),
      projects[0],
    ])
    await add(
      `INSERT INTO project_members (project_id, member_id, role) SELECT $1, unnest($2::uuid[]), 'member'`,
      [projects[0], [owner, member]],
    )
    await add('INSERT INTO erasures (organization_id) VALUES ($1)', [organizationId])
    await add('INSERT INTO opt_outs (organization_id, cookie_id) VALUES ($1, $2)', [
      organizationId,
      randomUUID(),
    ])
    await add(
      `INSERT INTO audit_log (organization_id, actor, action, object_kind, object_id)
       SELECT $1, $2, 'pixel.update', 'pixel', $3 FROM generate_series(1, 2)`,
      [organizationId, { kind: 'member', id: owner, name: 'Owner' }, randomUUID()],
    )
    const place = {
      organization_id: organizationId,
      project_id: projects[0],
      pixel_id: tenant.pixels[0],
    }
    rows.push(...[2_000, 3_000].map((ago) => eventOf(Date.now(), ago, place)))
  }
  await insertRows(api.clickhouse, 'events', rows)
  await api.clickhouse.command({
    // With a business e-mail: contact/query returns nobody else.
    sql: `INSERT INTO profiles (hem, first_name, business_email)
          VALUES ({hem:String}, 'Somebody', 'second@known.example')`,
    params: { hem: 'ab'.repeat(32) },
  })
  for (const tenant of [ours, theirs]) built.set(tenant, await buildAudience(tenant))
})

/** An audience of two people, built twice. */
async function buildAudience({ projects }: Tenant) {
  const include = { profile: { field: 'first_name', op: 'eq', value: 'Somebody' } }
  const audience_id = await inTransaction(api.postgres, (client) =>
    createAudience(client, projects[0], {
      name: 'Both',
      definition: { entity: 'people', include },
    }),
  )
  const build = async () => {
    const build_id = await requestBuild(api.postgres, audience_id)
    expect(await buildNow({ postgres: api.postgres, clickhouse: api.stores }, build_id)).toBe(2)
    return build_id
  }
  const build_id = await build()
  await build()
  return { audience_id, build_id }
}

async function ask(list: string, tenant: Tenant, cursor?: string) {
  const [method, url] = list.split(' ') as ['GET' | 'POST', string]
  const { audience_id = '', build_id = '', ...asked } = lists.get(list)!(tenant)
  const given = { ...asked, ...(cursor !== undefined && { cursor }) }
  const size = /records|changes/.test(url) ? 'page_size' : 'limit'
  const options: InjectOptions = {
    method,
    url: url.replace(':audience_id', audience_id).replace(':build_id', build_id),
    headers: url.startsWith('/dashboard') ? sessions.get(tenant)! : withKey(tenant.key),
    ...(method === 'GET'
      ? { query: { ...given, [size]: '1' } }
      : { payload: { ...given, [size]: 1 } }),
  }
  const answer = await api.app.inject(options)
  const body = answer.json()
  const rows = Object.values(body).find(Array.isArray)
  return {
    status: answer.statusCode,
    body,
    rows,
    next: (body.meta?.next_cursor ?? body.next_cursor) as string | undefined,
  }
}

const cursors = new Map<string, string>()
/** A cursor of our list. */
async function cursorOf(list: string): Promise<string> {
  const cursor = cursors.get(list) ?? (await ask(list, ours)).next!
  cursors.set(list, cursor)
  return cursor
}

const refused = {
  status: 400,
  body: expect.objectContaining({
    error: 'invalid_parameter',
    parameter: 'cursor',
    message: expect.stringContaining('must be a next_cursor of this list'),
  }),
}

test.each([...lists.keys()])('%s: next_cursor leads to the next row', async (list) => {
  const first = await ask(list, ours)
  expect([first.status, first.rows?.length, first.next]).toEqual([200, 1, expect.any(String)])
  const second = await ask(list, ours, first.next)
  expect([second.status, second.rows?.length]).toEqual([200, 1])
  expect(second.rows).not.toEqual(first.rows)
})

test.each([...lists.keys()])(
  '%s: a cursor of another list or organization is refused',
  async (list) => {
    expect(await ask(list, ours, (await ask(list, theirs)).next)).toMatchObject(refused)
    for (const other of lists.keys()) {
      if (familyOf(other) === familyOf(list)) continue
      expect({ other, ...(await ask(list, ours, await cursorOf(other))) }).toMatchObject(refused)
    }
  },
)

test.each([...lists.keys()])(
  '%s: a cursor that was changed by one byte, or is none, is refused',
  async (list) => {
    const next = await cursorOf(list)
    const bytes = Buffer.from(next, 'base64url')
    // All lists sign their cursors in the same way.
    const step = list === [...lists.keys()][0] ? 1 : 9
    for (let at = 0; at < bytes.length; at += step) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      expect(await ask(list, ours, changed.toString('base64url'))).toMatchObject(refused)
    }
    for (const wrong of ['', 'abc', `${next}=`])
      expect(await ask(list, ours, wrong)).toMatchObject(refused)
  },
)
