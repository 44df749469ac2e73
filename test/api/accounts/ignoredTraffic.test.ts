import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Accounts, type Json, openAccounts } from './harness.ts'

let it: Accounts
let project_id: string
beforeAll(async () => {
  it = await openAccounts()
  project_id = await it.makeProject('A shop with an office')
})
afterAll(() => it.close())

const update = 'PUT /api/v1/project/update'
const retrieve = async () =>
  (await it.done(it.key, `GET /api/v1/project/retrieve/${project_id}`)).project
const nothing = { ignored_networks: [], ignored_hosts: [], ignored_paths: [] }

test('a project ignores nothing at first; each list is changed by itself, and replaced as a whole', async () => {
  expect(await retrieve()).toMatchObject(nothing)
  const lists = {
    ignored_networks: ['203.0.113.0/24', '2001:db8::/48', '198.51.100.7'],
    ignored_hosts: ['staging.example.com', '*.preview.example.com'],
    ignored_paths: ['/preview', '/*/draft/*'],
  }
  const { project } = await it.done(it.key, update, { project_id, ...lists })
  expect(project).toMatchObject({ ...lists, name: 'A shop with an office', version: 2 })
  expect(await retrieve()).toEqual(project)
  await it.done(it.key, update, { project_id, ignored_hosts: ['localhost'] })
  expect(await retrieve()).toMatchObject({ ...lists, ignored_hosts: ['localhost'] })
  await it.done(it.key, update, { project_id, name: 'Renamed' })
  expect(await retrieve()).toMatchObject({
    ...lists,
    ignored_hosts: ['localhost'],
    name: 'Renamed',
  })
  await it.done(it.key, update, { project_id, ...nothing })
  expect(await retrieve()).toMatchObject(nothing)
})

test('a change is in the audit log with what was there before', async () => {
  await it.done(it.owner, update, { project_id, ignored_networks: ['203.0.113.9'] })
  const { entries } = await it.done(it.owner, 'GET /dashboard/audit')
  const entry = entries.find(
    ({ object_id, object }: Json) => (object_id ?? object?.id) === project_id,
  )
  expect(entry).toMatchObject({
    action: 'project.update',
    details: { ignored_networks: { from: [], to: ['203.0.113.9'] } },
  })
})

test.each([
  ['transit_hosts', ['https://login.example.com'], 'transit_hosts[0]', 'without scheme, port'],
  ['transit_hosts', ['a.example', '*.example.com'], 'transit_hosts[1]', '(got "*.example.com")'],
  ['ignored_networks', ['203.0.113.0/24', 'office'], 'ignored_networks[1]', '(got "office")'],
  [
    'ignored_networks',
    ['0.0.0.0/0'],
    'ignored_networks[0]',
    'to stop collecting, deactivate the pixel',
  ],
  [
    'ignored_hosts',
    ['https://x.example'],
    'ignored_hosts[0]',
    'must be a host without scheme, port and path',
  ],
  ['ignored_paths', ['/ok', '/ok', '/a?b'], 'ignored_paths[2]', 'must begin with "/" or "*"'],
  ['ignored_paths', ['/*'], 'ignored_paths[0]', 'because it ignores every page'],
  ['ignored_paths', [`/${'a'.repeat(200)}`], 'ignored_paths[0]', '200'],
  ['ignored_networks', Array(101).fill('203.0.113.7'), 'ignored_networks', '100'],
  ['ignored_hosts', 'staging.example.com', 'ignored_hosts', 'array'],
  ['ignored_hosts', [''], 'ignored_hosts[0]', 'must not be empty'],
])('%s %j is refused, and names the entry', async (setting, value, parameter, text) => {
  const before = await retrieve()
  const { status, body } = await it.ask(it.key, update, { project_id, [setting]: value })
  expect([status, body.error, body.parameter]).toEqual([400, 'invalid_parameter', parameter])
  expect(body.message).toContain(text)
  expect(await retrieve()).toEqual(before)
})

test('somebody who has changed the project meanwhile is not overwritten', async () => {
  const { version } = await retrieve()
  await it.done(it.key, update, { project_id, ignored_hosts: ['a.example'], version })
  const { status, body } = await it.ask(it.key, update, {
    project_id,
    ignored_hosts: ['b.example'],
    version,
  })
  expect([status, body.error]).toEqual([409, 'conflict'])
  expect(body.project).toMatchObject({ ignored_hosts: ['a.example'], version: version + 1 })
})

test('members read the lists, and only admins of the project change them', async () => {
  const member = await it.join('member', [{ project_id, role: 'member' }])
  const admin = await it.join('member', [{ project_id, role: 'admin' }])
  expect(await it.done(member.session, `GET /api/v1/project/retrieve/${project_id}`)).toMatchObject(
    {
      project: { ignored_hosts: expect.any(Array) },
    },
  )
  const refused = await it.ask(member.session, update, { project_id, ignored_paths: ['/x'] })
  expect(refused.status).toBe(403)
  expect((await it.ask(admin.session, update, { project_id, ignored_paths: ['/x'] })).status).toBe(
    200,
  )
})

test('the dashboard learns the network of the person who is signed in', async () => {
  const { network } = await it.done(it.owner, 'GET /dashboard/network')
  expect(network).toBe('127.0.0.1')
  expect((await it.ask(it.owner, update, { project_id, ignored_networks: [network] })).status).toBe(
    200,
  )
})
