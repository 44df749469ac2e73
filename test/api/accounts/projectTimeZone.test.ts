import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Accounts, openAccounts } from './harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts()
})
afterAll(() => it.close())

const create = 'POST /api/v1/project/create'
const update = 'PUT /api/v1/project/update'

test('a project has the time zone that it was created with, UTC by default, until it is changed', async () => {
  const { project: inUtc } = await it.done(it.key, create, { name: 'Without' })
  expect(inUtc).toMatchObject({ time_zone: 'UTC' })
  const { project } = await it.done(it.key, create, {
    name: 'With',
    time_zone: 'America/Los_Angeles',
  })
  expect(project).toMatchObject({ time_zone: 'America/Los_Angeles' })
  const { project_id } = project
  await it.done(it.key, update, { project_id, name: 'Renamed' })
  const retrieve = `GET /api/v1/project/retrieve/${project_id}`
  expect((await it.done(it.key, retrieve)).project).toMatchObject({
    name: 'Renamed',
    time_zone: 'America/Los_Angeles',
  })
  await it.done(it.key, update, { project_id, time_zone: 'Asia/Kathmandu' })
  expect((await it.done(it.key, retrieve)).project).toMatchObject({ time_zone: 'Asia/Kathmandu' })
})

test.each(['Mars/Olympus', '+02:00', ''])(
  'the time zone %j is refused and named',
  async (time_zone) => {
    const { status, body } = await it.ask(it.key, create, { name: 'Elsewhere', time_zone })
    expect([status, body.error, body.parameter]).toEqual([400, 'invalid_parameter', 'time_zone'])
    expect(body.message).toContain('Europe/Berlin')
  },
)
