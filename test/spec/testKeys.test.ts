/**
 * Test keys see a sample organization, or nothing. Every route, called with a test key about live objects,
 * returns only ids and names from the request, and changes nothing.
 */
import { tableFromIPC } from 'apache-arrow'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import { samples } from './samples.ts'
import type { Tenant } from './tenant.ts'
import { openTenants, withKey } from './tenants.ts'

let service: Awaited<ReturnType<typeof openTenants>>
let ours: Tenant
beforeAll(async () => {
  service = await openTenants()
  ours = service.ours
})
afterAll(() => service.close())

const routes = () =>
  Object.keys(samples).filter((name) => {
    const route = service.app.guardedRoutes.find(({ method, url }) => `${method} ${url}` === name)!
    const access = route.config!.access!
    return access.to === 'key'
  })

/** Every id and name that is kept of an organization. */
async function liveTexts({ organizationId }: Tenant): Promise<string[]> {
  const { rows } = await service.postgres.query<{ text: string }>(
    `SELECT unnest(ARRAY[organization_id::text, name]) AS text FROM organizations WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[member_id::text, email]) FROM members WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[project_id::text, name]) FROM projects WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[pixel_id::text, pixels.name]) FROM pixels JOIN projects USING (project_id)
       WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[campaign_id::text, campaigns.name]) FROM campaigns
       JOIN projects USING (project_id) WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[audience_id::text, audiences.name]) FROM audiences
       JOIN projects USING (project_id) WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[list_id::text, lists.name]) FROM lists
       JOIN projects USING (project_id) WHERE organization_id = $1
     UNION ALL SELECT opt_out_id::text FROM opt_outs WHERE organization_id = $1
     UNION ALL SELECT erasure_id::text FROM erasures WHERE organization_id = $1`,
    [organizationId],
  )
  return [...rows.map(({ text }) => text), 'Somebody', 'somebody@known.example']
}

const stateOf = async (organizationId: string) =>
  (
    await service.postgres.query(
      `SELECT (SELECT count(*) FROM audit_log WHERE organization_id = $1) AS entries,
         (SELECT json_agg(t) FROM members t WHERE organization_id = $1) AS members,
         (SELECT json_agg(t) FROM projects t WHERE organization_id = $1) AS projects`,
      [organizationId],
    )
  ).rows

describe.each(['testKey', 'testProjectKey'] as const)('a %s', (which) => {
  test('is told nothing live by any route, and changes neither what is live nor the sample', async () => {
    const live = await liveTexts(ours)
    expect(live.length).toBeGreaterThan(15)
    const before = [
      await stateOf(ours.organizationId),
      await stateOf(sampleIdentity.organizationId),
    ]
    const seen = new Map<number, string[]>()
    for (const name of routes()) {
      const answer = await service.ask(name, ours, withKey(ours[which]))
      const { params, query, body } = samples[name]!
      const sent = JSON.stringify([params?.(ours), query?.(ours), body?.(ours)])
      // The key’s own project is what it is bound to.
      const known = which === 'testProjectKey' ? `${sent}${ours.projects[0]}` : sent
      const told = live.filter((text) => answer.text.includes(text) && !known.includes(text))
      expect({ name, told }).toEqual({ name, told: [] })
      if (answer.status !== 403) expect({ name, mode: answer.mode }).toEqual({ name, mode: 'test' })
      expect({ name, status: answer.status }).not.toMatchObject({ status: 500 })
      seen.set(answer.status, [...(seen.get(answer.status) ?? []), name])
    }
    expect([
      await stateOf(ours.organizationId),
      await stateOf(sampleIdentity.organizationId),
    ]).toEqual(before)
    // The proof depends on answers, not on refusals.
    expect(seen.get(200)!.length).toBeGreaterThan(which === 'testKey' ? 35 : 30)
  })
})

/** Asks GET with a test key. */
const ask = async (url: string, which: 'testKey' | 'testProjectKey' = 'testKey', headers = {}) => {
  const answer = await service.app.inject({ url, headers: { ...withKey(ours[which]), ...headers } })
  return { status: answer.statusCode, body: answer.json(), text: answer.body }
}

test('a test key’s organization has members, projects and pixels', async () => {
  const { organization, projects } = (await ask('/api/v1/whoami')).body
  expect(organization).toEqual({
    organization_id: sampleIdentity.organizationId,
    name: 'Sample organization',
  })
  expect(projects).toEqual([{ project_id: sampleIdentity.projectId, name: 'Sample shop' }])
  const { members } = (await ask('/api/v1/organization/user/list')).body
  expect(members.map(({ role }: { role: string }) => role)).toEqual(['owner', 'admin', 'member'])
  const { pixels } = (await ask(`/api/v1/pixel/list?project_id=${sampleIdentity.projectId}`)).body
  expect(pixels).toHaveLength(1)
  const events = await ask(`/api/v3/events/web_event?pixel_id=${pixels[0].pixel_id}&limit=3`)
  expect(events.body.rows).toHaveLength(3)
})

test.each(['query', 'header'])(
  'sample rows name the project that was asked for by %s',
  async (how) => {
    const [project] = ours.projects
    const [query, headers] =
      how === 'query'
        ? [`project_id=${project}&`, {}]
        : ['', { 'x-project-id': project.toUpperCase() }]
    for (const path of ['web_event', 'resolution_full_profile']) {
      const { body } = await ask(`/api/v3/events/${path}?${query}limit=100`, 'testKey', headers)
      expect(body.rows).toHaveLength(100)
      expect(
        new Set(body.rows.map(({ project_id }: { project_id: string }) => project_id)),
      ).toEqual(new Set([project]))
    }
  },
)

test('so do tables, whose bytes are packed', async () => {
  const [project] = ours.projects
  const query = `project_id=${project}&limit=100&select=project_id,pixel_id`
  const tableAs = async (accept: string) => {
    const headers = { ...withKey(ours.testKey), accept }
    const { rawPayload } = await service.app.inject({
      url: `/api/v3/events/web_event?${query}`,
      headers,
    })
    return rawPayload
  }
  const arrow = tableFromIPC(await tableAs('application/vnd.apache.arrow.stream')).toArray()
  const file = new Uint8Array(await tableAs('application/vnd.apache.parquet')).buffer
  for (const rows of [arrow, await parquetReadObjects({ file })]) {
    expect(rows).toHaveLength(100)
    expect(new Set(rows.map(({ project_id }) => project_id))).toEqual(new Set([project]))
  }
})

test('a test key of a project has the sample as its project', async () => {
  const [own, other] = ours.projects
  const { projects } = (await ask('/api/v1/whoami', 'testProjectKey')).body
  expect(projects).toEqual([{ project_id: own, name: 'Sample shop' }])
  const { rows } = (await ask('/api/v3/events/web_event?limit=5', 'testProjectKey')).body
  expect(rows.map(({ project_id }: { project_id: string }) => project_id)).toEqual(
    Array(5).fill(own),
  )
  expect((await ask(`/api/v3/events/web_event?project_id=${other}`, 'testProjectKey')).status).toBe(
    404,
  )
})

test('a test key names no other organization’s project or pixel', async () => {
  const { theirs } = service
  expect((await ask(`/api/v3/events/web_event?project_id=${theirs.projects[0]}`)).body.error).toBe(
    'project not found',
  )
  expect((await ask(`/api/v3/events/web_event?pixel_id=${theirs.pixels[0]}`)).body.error).toBe(
    'pixel not found',
  )
})
