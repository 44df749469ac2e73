import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Accounts, openAccounts } from '../../accounts/harness.ts'

let it: Accounts
let other: string
let stranger: Awaited<ReturnType<Accounts['openStranger']>>

beforeAll(async () => {
  it = await openAccounts()
  other = await it.makeProject('Another project')
  stranger = await it.openStranger()
})
afterAll(() => it.close())

test('campaign performance refuses an end before its start', async () => {
  const days = 'start_date=2026-02-02&end_date=2026-02-01'
  const json = { name: 'Days', start_date: '2026-01-01', project_id: it.demo.project_id }
  const { campaign } = await it.done(it.key, 'POST /api/v1/campaigns', json)
  for (const path of [`${campaign.campaign_id}/performance`, 'performance-summary']) {
    const { status, body } = await it.ask(it.key, `GET /api/v1/campaigns/${path}?${days}`)
    expect([path, status, body.parameter]).toEqual([path, 400, 'end_date'])
  }
})

test('a project key gets 401 for another project’s pixel, and 404 for another organization’s', async () => {
  const pixel_id = await it.makePixel(other)
  const key = await it.makeKey(it.demo.project_id)
  for (const [id, expected] of [
    [pixel_id, [401, 'Invalid API key']],
    [stranger.pixel, [404, 'pixel not found']],
  ] as const) {
    const read = await it.ask(key, `GET /api/v1/pixel/retrieve/${id}`)
    expect([read.status, read.body.error]).toEqual(expected)
    const write = await it.ask(key, 'PUT /api/v1/pixel/update', { pixel_id: id, name: 'Mine' })
    expect([write.status, write.body.error]).toEqual(expected)
  }
})

test('a read key of the organization reads its usage; one that is a project’s reads that project’s', async () => {
  for (const [projectId, expected] of [
    [null, null],
    [it.demo.project_id, it.demo.project_id],
  ] as const) {
    const key = await it.makeKey(projectId, 'live', { role: 'read' })
    const { status, body } = await it.ask(key, 'GET /api/v1/billing/usage')
    expect([status, body.project_id]).toEqual([200, expected])
  }
  const { session } = await it.join('member')
  expect((await it.ask(session, 'GET /api/v1/billing/usage')).status).toBe(403)
})

test('deleting a project by its project_id alone keeps its events', async () => {
  const project_id = await it.makeProject('To delete')
  expect(await it.done(it.key, 'DELETE /api/v1/project/delete', { project_id })).toEqual({
    deleted: true,
    events: 'keep',
  })
  const { rows } = await it.postgres.query(
    'SELECT pixel_id FROM event_deletions WHERE project_id = $1 AND pixel_id IS NULL',
    [project_id],
  )
  expect(rows.length).toBe(0)
})
