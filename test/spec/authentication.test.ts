import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../collector/accounts/keys/apiKeys.ts'
import { tiers } from '../../schemas/fields.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { storeOrganization } from '../harness/owners.ts'
import { type Answering, waitFor } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'
import { quickest } from '../harness/timing.ts'

let service: Answering
let postgres: pg.Pool
beforeAll(async () => {
  const shared = await openTenant()
  service = shared.service
  postgres = new pg.Pool({ connectionString: shared.env.DATABASE_URL! })
})
afterAll(async () => {
  await postgres.end()
  await service.stop()
})

const get = async (path: string, headers: Record<string, string>) => {
  const answer = await fetch(`${service.url}${path}`, { headers })
  const body = (await answer.json()) as Record<string, unknown>
  return { status: answer.status, error: body.error, body }
}

const routes = [
  ...tiers.flatMap((tier) => [`/api/v3/events/${tier}`, `/api/v3/events/${tier}/schema`]),
  '/api/v3/events/web_event/counts',
  '/api/v3/events_schema',
  '/api/v1/rejected_events',
]

describe.each(routes)('%s', (path) => {
  const key = () => ({ 'x-api-key': service.demo.api_key })

  test('without a key', async () => {
    expect(await get(path, {})).toMatchObject({ status: 401, error: 'Invalid API key' })
  })

  test('with a key that does not exist', async () => {
    expect(await get(path, { 'x-api-key': 'ff_live_0', 'x-api-secret': '0' })).toMatchObject({
      status: 401,
      error: 'Invalid API key',
    })
  })

  test('with a wrong secret, and with another key’s', async () => {
    for (const secret of ['0', service.demo.test_api_secret, `${service.demo.api_secret}0`]) {
      expect(await get(path, { ...key(), 'x-api-secret': secret })).toMatchObject({
        status: 401,
        error: 'Invalid API secret',
      })
    }
  })

  test('without the secret', async () => {
    expect(await get(path, key())).toMatchObject({ status: 401, error: 'API secret is required' })
  })

  test('with both', async () => {
    expect((await get(path, { ...key(), 'x-api-secret': service.demo.api_secret })).status).toBe(
      200,
    )
  })
})

test('every error has error, code, message and request_id', async () => {
  expect((await get('/api/v3/events/web_event', {})).body).toEqual({
    error: 'Invalid API key',
    code: 'invalid_api_key',
    message: expect.any(String),
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

test('errors blame only headers that the request has, and say what a Bearer key needs', async () => {
  const { api_key, api_secret } = service.demo
  const refused = async (headers: Record<string, string>) => {
    const { status, error, body } = await get('/api/v1/lists', headers)
    return { status, error, message: body.message as string }
  }
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const unknown = newApiCredentials('live').apiKey
  const [byHeader, byBearer] = [
    await refused({ 'x-api-key': unknown }),
    await refused(bearer(unknown)),
  ]
  for (const answer of [byHeader, byBearer]) {
    expect(answer).toMatchObject({ status: 401, error: 'Invalid API key' })
  }
  expect(byHeader.message).toContain('X-Api-Key')
  expect(byBearer.message).toContain('Authorization')
  expect(byBearer.message).not.toContain('X-Api-Key')

  const missing = await refused(bearer(api_key))
  expect(missing).toMatchObject({ status: 401, error: 'API secret is required' })
  expect(missing.message).toMatch(/X-Api-Secret.*Authorization: Bearer/)
  expect(missing.message).not.toContain('X-Api-Key')
  expect(await refused({ ...bearer(api_key), 'x-api-secret': api_secret })).toMatchObject({
    status: 200,
  })
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    components: { securitySchemes: { token: { description: string } } }
  }
  expect(document.components.securitySchemes.token.description).toMatch(
    /X-Api-Secret.*secret_required/,
  )
})

test('a revoked key is refused within a second', async () => {
  const owner = { organizationId: service.demo.organization_id, projectId: null }
  let headers: Record<string, string>
  const statusOf = async () => (await get('/api/v3/events_schema', headers)).status
  const makeKey = async () => {
    const credentials = newApiCredentials('live')
    await storeApiKey(postgres, owner, 'live', 'to revoke', credentials)
    headers = { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }
    expect(await statusOf()).toBe(200)
  }
  const revoke = async () => {
    await postgres.query(
      "UPDATE api_keys SET revoked_at = now() WHERE name = 'to revoke' AND organization_id = $1",
      [owner.organizationId],
    )
    await waitFor('the refusal', async () => (await statusOf()) === 401)
  }
  await makeKey()
  expect(await quickest(1_200, revoke, makeKey)).toBeLessThan(1_200)
})

test('while secret_required is off, an older key serves without a secret, but not with a wrong one', async () => {
  const set = (isRequired: boolean) =>
    postgres.query('UPDATE organizations SET secret_required = $1 WHERE organization_id = $2', [
      isRequired,
      service.demo.organization_id,
    ])
  await set(false)
  const key = { 'x-api-key': service.demo.api_key }
  await waitFor('the change', async () => (await get('/api/v3/events_schema', key)).status === 200)
  expect((await get('/api/v3/events_schema', { ...key, 'x-api-secret': '0' })).error).toBe(
    'Invalid API secret',
  )
  const deprecationOf = async (headers: Record<string, string>) =>
    (await fetch(`${service.url}/api/v1/whoami`, { headers })).headers.get('deprecation')
  expect(await deprecationOf(key)).toMatch(/^@\d+$/)
  expect(await deprecationOf({ ...key, 'x-api-secret': service.demo.api_secret })).toBeNull()
  await set(true)
})

test('every answer to a test key has X-Svc-Mode, errors before the check of the key too', async () => {
  const { api_key, api_secret, test_api_key, test_api_secret } = service.demo
  const secret = { 'x-api-secret': test_api_secret }
  const cases: [path: string, method: string, headers: Record<string, string>, status: number][] = [
    ['/api/v1/whoami', 'GET', secret, 200],
    ['/api/v1/whoami', 'GET', {}, 401],
    ['/api/v1/whoami', 'GET', { 'x-api-secret': '0' }, 401],
    ['/api/v1/nothing', 'GET', secret, 404],
    ['/api/v1/whoami', 'PUT', secret, 405],
  ]
  for (const [path, method, headers, status] of cases) {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: { 'x-api-key': test_api_key, ...headers },
    })
    expect([answer.status, answer.headers.get('x-svc-mode')], path).toEqual([status, 'test'])
  }
  const bearer = { authorization: `Bearer ${test_api_key}`, ...secret }
  const lists = await fetch(`${service.url}/api/v1/lists`, { headers: bearer })
  expect([lists.status, lists.headers.get('x-svc-mode')]).toEqual([200, 'test'])
  const live = { 'x-api-key': api_key, 'x-api-secret': api_secret }
  expect(
    (await fetch(`${service.url}/api/v1/nothing`, { headers: live })).headers.get('x-svc-mode'),
  ).toBeNull()
})

describe('a project key', () => {
  let headers: Record<string, string>
  const otherProject = randomUUID()
  const otherPixel = randomUUID()
  const foreign = { organization: randomUUID(), project: randomUUID(), pixel: randomUUID() }

  beforeAll(async () => {
    const { organization_id, project_id } = service.demo
    const project = 'INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, $3)'
    const pixel = 'INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, $3)'
    await postgres.query(project, [otherProject, organization_id, 'other'])
    await postgres.query(pixel, [otherPixel, otherProject, 'other'])
    await storeOrganization(postgres, foreign.organization, 'f')
    await postgres.query(project, [foreign.project, foreign.organization, 'foreign'])
    await postgres.query(pixel, [foreign.pixel, foreign.project, 'foreign'])
    const credentials = newApiCredentials('live')
    await storeApiKey(
      postgres,
      { organizationId: organization_id, projectId: project_id },
      'live',
      'p',
      credentials,
    )
    headers = { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }
  })

  test('reads only its project, also when it names none', async () => {
    const own = customEvent()
    const other = customEvent()
    await postBeacon(service.url, beaconOf(service, [own]))
    await waitFor(
      'the other pixel',
      async () =>
        (await postBeacon(service.url, beaconOf(service, [other], { pixel_id: otherPixel }))).ok,
    )
    await readEvent(service, own.event_id)
    await readEvent(service, other.event_id)
    const { body } = await get('/api/v3/events/web_event?select=event_id', headers)
    expect(body.rows).toContainEqual({ event_id: own.event_id })
    expect(body.rows).not.toContainEqual({ event_id: other.event_id })
  })

  test('another project or pixel answers like one that does not exist', async () => {
    for (const id of [otherProject, foreign.project, randomUUID()]) {
      const named = await get(`/api/v3/events/web_event?project_id=${id}`, headers)
      expect(named).toMatchObject({ status: 404, error: 'project not found' })
      expect(
        await get('/api/v3/events/web_event', { ...headers, 'x-project-id': id }),
      ).toMatchObject({
        status: 404,
      })
    }
    for (const id of [otherPixel, foreign.pixel, randomUUID()]) {
      const named = await get(`/api/v3/events/web_event?pixel_id=${id}`, headers)
      expect(named).toMatchObject({ status: 404, error: 'pixel not found' })
    }
  })

  test('an organization key reaches all its projects, and no other organization’s', async () => {
    const { api_key, api_secret } = service.demo
    const whole = { 'x-api-key': api_key, 'x-api-secret': api_secret }
    expect((await get(`/api/v3/events/web_event?project_id=${otherProject}`, whole)).status).toBe(
      200,
    )
    expect(
      await get(`/api/v3/events/web_event?project_id=${foreign.project}`, whole),
    ).toMatchObject({
      status: 404,
    })
    expect(await get(`/api/v3/events/web_event?pixel_id=${foreign.pixel}`, whole)).toMatchObject({
      status: 404,
    })
  })
})
