/** Test keys see a sample organization. `routes/` calls every route with a test key about live objects. */
import { tableFromIPC } from 'apache-arrow'
import { parquetReadObjects } from 'hyparquet'
import { beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import type { Tenant } from './tenant.ts'
import { type Tenants, tenantsOfWorker, withKey } from './tenants.ts'

let service: Tenants
let ours: Tenant
beforeAll(async () => {
  service = await tenantsOfWorker()
  ours = service.ours
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
