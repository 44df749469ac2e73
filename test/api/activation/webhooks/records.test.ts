/** Webhooks as records: who may read them, allowed addresses, and their fields. */
import { randomUUID } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOrganization, storeProject } from '../../../harness/owners.ts'
import { openEvents, organizationId, projectId } from '../../events/harness.ts'

let it: Awaited<ReturnType<typeof openEvents>>
const otherProject = randomUUID()
const otherOrganization = randomUUID()
beforeAll(async () => {
  it = await openEvents()
  for (const id of [organizationId, otherOrganization])
    await storeOrganization(it.postgres, id, 'O')
  for (const id of [projectId, otherProject])
    await storeProject(it.postgres, id, organizationId, 'P')
})
afterAll(() => it.close())

type Headers = InjectOptions['headers']
const ask = async (route: string, payload?: object, headers: Headers = {}) => {
  const [method, path] = route.split(' ') as ['GET', string]
  const url = `/api/v1/webhooks${path}`
  const answer = await it.app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
}
const hook = (more: object = {}) => ({
  url: 'https://8.8.8.8/hooks',
  event_types: ['audience.built'],
  ...more,
})
const create = async (more: object = {}, headers: Headers = {}) =>
  (await ask('POST ', hook(more), headers)).body.webhook.id as string

describe('an address that leads inside the network is refused', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.0.0.1:8123/?query=SELECT+1',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.1.2.3/',
    'http://192.168.0.1/',
    'http://172.20.0.1/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'ftp://8.8.8.8/',
    'file:///etc/passwd',
    'https://user:password@8.8.8.8/',
    'not a url',
  ])('%s', async (url) => {
    const refused = { status: 400, body: { error: 'invalid_parameter', parameter: 'url' } }
    expect(await ask('POST ', hook({ url }))).toMatchObject(refused)
    const id = await create()
    expect(await ask(`PATCH /${id}`, { url })).toMatchObject(refused)
    expect((await ask(`DELETE /${id}`)).status).toBe(204)
  })
})

test('the secret is shown when it is made, and nowhere else', async () => {
  const { body } = await ask('POST ', hook())
  expect(body.secret).toMatch(/^whsec_[\w+/]{43}=$/)
  const { id } = body.webhook
  const rotated = (await ask(`POST /${id}/secret/rotate`)).body.secret
  expect(rotated).not.toBe(body.secret)
  const told = JSON.stringify([
    await ask(`GET /${id}`),
    await ask('GET '),
    await ask(`PATCH /${id}`, {}),
  ])
  const { rows } = await it.postgres.query(
    'SELECT webhooks::text AS kept FROM webhooks UNION ALL SELECT audit_log::text FROM audit_log',
  )
  for (const secret of [body.secret, rotated])
    expect(told + JSON.stringify(rows)).not.toContain(secret.slice(6))
})

test('what changes is recorded, a change of an earlier version refused', async () => {
  const id = await create({ description: 'Ours' })
  const changed = await ask(`PATCH /${id}`, {
    event_types: ['pixel.silent'],
    enabled: false,
    version: 1,
  })
  expect(changed.body.webhook).toMatchObject({
    id,
    project_id: null,
    description: 'Ours',
    event_types: ['pixel.silent'],
    enabled: false,
    version: 2,
  })
  expect(await ask(`PATCH /${id}`, { enabled: true, version: 1 })).toMatchObject({
    status: 409,
    body: { error: 'conflict', webhook: { version: 2 } },
  })
  expect((await ask(`POST /${id}/test`)).status).toBe(409)
  expect((await ask(`DELETE /${id}`)).status).toBe(204)
  expect(await ask(`GET /${id}`)).toMatchObject({
    status: 404,
    body: { error: 'webhook not found' },
  })
  const { rows } = await it.postgres.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE object_id = $1 ORDER BY entry_id',
    [id],
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'webhook.create',
    'webhook.update',
    'webhook.delete',
  ])
})

test.each([
  { event_types: [] },
  { event_types: ['audience.deleted'] },
  { url: '' },
  { url: `https://8.8.8.8/${'x'.repeat(2_048)}` },
  { secret: 'whsec_mine' },
  { description: 'a\u0007b' },
])('a body with %j is 400', async (more) => {
  expect(await ask('POST ', hook(more))).toMatchObject({ status: 400 })
})

test('a project’s key has its project’s webhooks, and no other', async () => {
  const key = { 'x-project-key': projectId }
  const [own, other, whole] = [
    await create({}, key),
    await create({ project_id: otherProject }),
    await create(),
  ]
  const { body } = await ask('GET ', undefined, key)
  expect(body.webhooks.map(({ id }: { id: string }) => id)).toEqual([own])
  expect(body.webhooks[0].project_id).toBe(projectId)
  for (const id of [other, whole]) {
    const routes = [
      'GET ',
      'PATCH ',
      'DELETE ',
      'POST /test',
      'POST /secret/rotate',
      'GET /deliveries',
      'POST /replay',
    ]
    for (const route of routes) {
      const [method, path = ''] = route.split(' ')
      const payload = {
        PATCH: {},
        POST: path === '/replay' ? { since: '2026-01-01T00:00:00Z' } : undefined,
      }[method!]
      expect(await ask(`${method} /${id}${path}`, payload, key), route).toMatchObject({
        status: 404,
        body: { error: 'webhook not found' },
      })
    }
  }
  for (const answer of [
    await ask('POST ', hook({ project_id: otherProject }), key),
    await ask(`GET ?project_id=${otherProject}`, undefined, key),
  ])
    expect(answer).toMatchObject({
      status: 403,
      body: { error: 'project_id does not match API key scope' },
    })
  const theirs = { 'x-organization': otherOrganization }
  expect((await ask(`GET /${own}`, undefined, theirs)).status).toBe(404)
  expect((await ask('GET ', undefined, theirs)).body.webhooks).toEqual([])
})

test('an organization without webhooks finds none', async () => {
  const key = { 'x-organization': randomUUID() }
  expect((await ask('GET ', undefined, key)).body).toEqual({ webhooks: [] })
})

test('a delivery of another webhook is not found', async () => {
  const [one, other] = [await create(), await create()]
  const { body } = await ask(`POST /${one}/test`)
  const { id } = body.delivery
  expect((await ask(`POST /${one}/deliveries/${id}/replay`)).status).toBe(202)
  for (const path of [
    `${other}/deliveries/${id}`,
    `${one}/deliveries/${randomUUID()}`,
    `${one}/deliveries/x`,
  ])
    expect(await ask(`POST /${path}/replay`)).toMatchObject({
      status: 404,
      body: { error: 'delivery not found' },
    })
})

test('there are at most 20 of a project', async () => {
  const project_id = otherProject
  for (let status = 201; status === 201; )
    status = (await ask('POST ', hook({ project_id }))).status
  expect((await ask('POST ', hook({ project_id }))).status).toBe(409)
  const { body } = await ask(`GET ?project_id=${project_id}`)
  expect(body.webhooks).toHaveLength(20)
})
