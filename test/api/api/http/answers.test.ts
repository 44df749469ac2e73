/** What every answer has in common: errors of one form, what caches may do, HEAD, and the paths without /api. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, readEvent } from '../../../harness/api.ts'
import type { Answering } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

let service: Answering
let postgres: pg.Client
let key: Record<string, string>
beforeAll(async () => {
  const shared = await openTenant()
  service = shared.service
  postgres = new pg.Client({ connectionString: shared.env.DATABASE_URL! })
  await postgres.connect()
  key = { 'x-api-key': service.demo.api_key, 'x-api-secret': service.demo.api_secret }
})
afterAll(async () => {
  await postgres.end()
  await service.stop()
})

/** Sends these bytes as they are, and reads until the service closes the connection. */
function exchange(request: string) {
  return new Promise<{ status: number; headers: string; body: unknown }>((resolve, reject) => {
    const { port } = new URL(service.url)
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(request))
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    socket.on('error', reject).on('close', () => {
      const [head, body] = text.split('\r\n\r\n')
      resolve({
        status: Number(head!.split(' ')[1]),
        headers: head!,
        body: body ? JSON.parse(body) : null,
      })
    })
  })
}

const errorBody = (error: string) => ({
  error,
  code: expect.stringMatching(/^[a-z][a-z_]+$/),
  message: expect.stringMatching(/^[A-Z].+\.$/),
  request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
})

test('every answer names its request', async () => {
  const answers = await Promise.all([
    ask(service, '/healthz'),
    ask(service, '/nothing'),
    postBeacon(service.url, beaconOf(service, [customEvent()])),
  ])
  const named = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(new Set(named).size).toBe(3)
  for (const id of named) expect(id).toMatch(/^[0-9a-f-]{36}$/)
  const { request_id } = (await answers[1]!.json()) as { request_id: string }
  expect(named[1]).toBe(request_id)
  const { headers, body } = await exchange('what is this?\r\n\r\n')
  expect(headers).toContain(`X-Request-Id: ${(body as { request_id: string }).request_id}`)
})

describe('an error has the body of all others', () => {
  const get = (path: string, headers = '', method = 'GET') =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`

  test.each([
    ['a bad path', () => get('/api/v1/campaigns/%zz'), 400, 'malformed'],
    ['a path that is no UTF-8', () => get('/p/%ff.js'), 400, 'malformed'],
    ['a bad path without /api', () => get('/v1/campaigns/%'), 400, 'malformed'],
    [
      'a long part of a path',
      () => get(`/api/v1/campaigns/${'x'.repeat(1000)}`),
      414,
      'uri_too_long',
    ],
    [
      'long headers',
      () => get('/healthz', `X-Long: ${'x'.repeat(20_000)}\r\n`),
      431,
      'headers_too_large',
    ],
    ['a long query', () => get(`/healthz?${'x'.repeat(20_000)}`), 431, 'headers_too_large'],
    ['what is not HTTP', () => 'what is this?\r\n\r\n', 400, 'malformed'],
    ['a wrong length', () => get('/e', 'Content-Length: some\r\n', 'POST'), 400, 'malformed'],
    ['OPTIONS', () => get('/api/v1/whoami', '', 'OPTIONS'), 405, 'method_not_allowed'],
    ['OPTIONS *', () => get('*', '', 'OPTIONS'), 404, 'not_found'],
    ['GET *', () => get('*'), 404, 'not_found'],
    ['GET *, and more', () => get('*/healthz'), 404, 'not_found'],
    [
      'GET * of a browser that sends JSON',
      () => get('*', 'Accept: application/json\r\n'),
      404,
      'not_found',
    ],
    ['another method', () => get('/healthz', '', 'DELETE'), 405, 'method_not_allowed'],
    ['another method of an unknown path', () => get('/nothing', '', 'DELETE'), 404, 'not_found'],
    ['an unknown path', () => get('/nothing'), 404, 'not_found'],
  ])('%s', async (_what, request, status, error) => {
    const answer = await exchange(request())
    expect(answer).toMatchObject({ status, body: errorBody(error) })
    expect(answer.headers).toMatch(/^content-type: application\/json; charset=utf-8$/im)
    expect(answer.headers).toMatch(/^cache-control: private, no-store$/im)
  })

  test.each(['GET', 'POST'])('%s with two hosts', async (method) => {
    const body = method === 'POST' ? JSON.stringify(beaconOf(service, [customEvent()])) : ''
    const lines = [
      `${method} ${body ? '/e' : '/healthz'} HTTP/1.1`,
      'Host: x',
      'Connection: close',
      'Content-Type: text/plain',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'HOST: x',
    ]
    const answer = await exchange(`${lines.join('\r\n')}\r\n\r\n${body}`)
    expect(answer).toMatchObject({ status: 400, body: errorBody('malformed') })
    expect(answer.body).toMatchObject({ message: expect.stringContaining('Host') })
    const single = await exchange(`${lines.slice(0, -1).join('\r\n')}\r\n\r\n${body}`)
    expect(single.status).toBe(200)
  })

  test('a head that does not arrive', { timeout: 600_000 }, async () => {
    const answer = await exchange('GET /healthz HTTP/1.1\r\nHost: x\r\n')
    expect(answer).toMatchObject({ status: 408, body: errorBody('request_timeout') })
  })
})

test.each(['{', '{"__proto__": 1}'])(
  'the body %s is refused, and the answer says why',
  async (body) => {
    const answer = await fetch(`${service.url}/auth/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      error: 'malformed',
      message: 'The body must be JSON without members named __proto__ or constructor.',
    })
  },
)

test.each([
  ['PUT', '/api/v1/whoami', 'GET, HEAD'],
  ['OPTIONS', '/api/v1/project/update', 'PUT'],
  ['GET', '/v1/organization/user/delete/', 'DELETE'],
  ['POST', '/api/v3/events/web_event?limit=1', 'GET, HEAD'],
  ['DELETE', '/api/v1/lookup', 'GET, HEAD, POST'],
  ['PROPFIND', '/api/v1/organization', 'DELETE, GET, HEAD, PUT'],
  ['PUT', '/api/v1/campaigns/00000000-0000-4000-8000-000000000000', 'GET, HEAD, PATCH'],
  ['DELETE', '/e', 'OPTIONS, POST'],
  ['PUT', '/sign-in', 'GET, HEAD'],
])('405 says to %s %s which methods there are: %s', async (method, path, allowed) => {
  const answer = await exchange(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  )
  expect(answer).toMatchObject({ status: 405, body: errorBody('method_not_allowed') })
  expect(/^allow: (.*)$/im.exec(answer.headers)?.[1]).toBe(allowed)
})

test('405 is what every path of the contract answers to a method that it has not', async () => {
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const uuid = '00000000-0000-4000-8000-000000000000'
  const templates = Object.entries(paths).map(([path, operations]) => ({
    is: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
    methods: Object.keys(operations),
  }))
  for (const [path, operations] of Object.entries(paths)) {
    const url = path.replace(/\{[^}]+\}/g, uuid)
    const methods = templates
      .filter(({ is }) => is.test(url))
      .flatMap((template) => template.methods)
    const method = ['PATCH', 'PUT'].find((one) => !methods.includes(one.toLowerCase()))!
    const answer = await fetch(service.url + url, { method })
    expect({ path, status: answer.status, body: await answer.json() }).toEqual({
      path,
      status: 405,
      body: errorBody('method_not_allowed'),
    })
    const allowed = answer.headers.get('allow')!.split(', ')
    for (const method of Object.keys(operations))
      expect(allowed, path).toContain(method.toUpperCase())
  }
})

describe('a body that the route does not take', () => {
  const post = async (path: string, headers: Record<string, string>, body: string | Uint8Array) => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { ...key, ...headers },
      body: body as NonNullable<RequestInit['body']>,
    })
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as { message: string },
    }
  }
  const query = JSON.stringify({ email: 'a@b.example' })

  test.each([
    ['/api/v1/lookup', 'text/plain', 'application/json'],
    ['/api/v1/lookup', 'application/x-www-form-urlencoded', 'application/json'],
    ['/e', 'application/xml', 'application/json or text/plain'],
  ])('%s says of %s what it takes instead', async (path, type, taken) => {
    const { status, body, headers } = await post(path, { 'content-type': type }, query)
    expect({ status, body }).toMatchObject({
      status: 415,
      body: errorBody('unsupported_media_type'),
    })
    expect(body.message).toContain(taken)
    expect(headers.get('accept')).toBe(taken.replace(' or ', ', '))
  })

  test.each(['/api/v1/lookup', '/e'])(
    '%s says of a compressed one that it is compressed',
    async (path) => {
      const { status, body, headers } = await post(
        path,
        { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        gzipSync(query),
      )
      expect({ status, body }).toMatchObject({
        status: 415,
        body: errorBody('unsupported_media_type'),
      })
      expect(body.message).toContain('Content-Encoding')
      expect(headers.get('accept-encoding')).toBe('identity')
    },
  )
})

test('401 says what it asks for', async () => {
  for (const path of [
    '/api/v1/whoami',
    '/v1/whoami',
    '/dashboard/session',
    '/api/v3/events/web_event',
  ]) {
    const { status, headers } = await fetch(service.url + path)
    expect({ path, status, challenge: headers.get('www-authenticate') }).toEqual({
      path,
      status: 401,
      challenge: 'ApiKey realm="Footfall", Bearer realm="Footfall"',
    })
  }
})

test('answers that are for one caller are kept by no cache', async () => {
  const { admin_email: email, admin_password: password } = service.demo
  const answers = [
    await fetch(`${service.url}/dashboard/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    }),
    await fetch(`${service.url}/dashboard/invitation/nobody`),
  ]
  for (const path of [
    '/api/v1/whoami',
    '/api/v3/events/web_event',
    '/v1/organization',
    '/api/v1/lookup?email=a@b.example',
    '/api/v3/events/resolution_full_profile/visitors?limit=1',
    '/api/v1/privacy/opt-outs',
    '/nothing',
  ]) {
    answers.push(await fetch(service.url + path, { headers: key }))
    answers.push(await fetch(service.url + path, { headers: { ...key, accept: 'text/csv' } }))
  }
  for (const { url, headers, body } of answers) {
    await body?.cancel()
    expect({ url, cache: headers.get('cache-control') }).toEqual({
      url,
      cache: 'private, no-store',
    })
  }
})

describe('HEAD', () => {
  const window = `start_ms=${Date.now() - 86_400_000}&end_ms=${Date.now()}`
  const chargedPaths = () => [
    ...['web_event', 'resolution_hem', 'resolution_hem_pte', 'resolution_full_profile'].map(
      (tier) => `/api/v3/events/${tier}`,
    ),
    `/api/v3/events/resolution_hem/visitors?project_id=${service.demo.project_id}&${window}&limit=10`,
    `/api/v1/events?project_id=${service.demo.project_id}&${window}`,
    `/api/v2/events?project_id=${service.demo.project_id}&${window}`,
    '/api/v1/lookup?email=nobody@known.example',
    '/api/v1/lookup/company?domain=known.example',
  ]

  test.each([
    '/',
    '/sign-in',
    '/healthz',
    '/readyz',
    '/docs',
    '/openapi.json',
    '/demo',
    '/metrics',
    '/nothing',
    '/api/v1/whoami',
    '/api/v1/campaigns',
    '/api/v1/taxonomy',
    '/api/v1/billing/usage',
    '/v1/organization',
    '/api/v3/events_schema',
    '/api/v3/events/web_event/counts',
    '/api/v1/rejected_events',
  ])('%s is answered as GET is, without its body', async (path) => {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(service.url + path, { method, headers: key })),
    )
    await get!.body?.cancel()
    expect(await head!.text()).toBe('')
    expect(head!.status).toBe(get!.status)
    for (const name of ['content-type', 'cache-control'])
      expect(head!.headers.get(name)).toBe(get!.headers.get(name))
  })

  test('of what is charged checks who asks, reads nothing and charges nothing', async () => {
    const ledger = async () => {
      const { rows } = await postgres.query(
        'SELECT count(*)::int AS n FROM ledger WHERE organization_id = $1',
        [service.demo.organization_id],
      )
      return rows[0].n
    }
    const before = await ledger()
    for (const path of chargedPaths()) {
      const asked = await fetch(service.url + path, { method: 'HEAD', headers: key })
      expect({
        path,
        status: asked.status,
        charged: asked.headers.get('x-footfall-charged'),
      }).toEqual({
        path,
        status: 200,
        charged: null,
      })
      expect(asked.headers.get('content-length')).toMatch(/^0?$|null/)
      expect((await fetch(service.url + path, { method: 'HEAD' })).status, path).toBe(401)
    }
    expect(await ledger()).toBe(before)
  })
})

describe('a path without /api', () => {
  test('is the same request to metering: with one Idempotency-Key it is paid for once', async () => {
    const event = customEvent()
    await postBeacon(service.url, beaconOf(service, [event]))
    await readEvent(service, event.event_id)
    const now = Date.now()
    const path = `/v3/events/web_event?start_ms=${now - 60_000}&end_ms=${now}&filter=event_id:eq:${event.event_id}`
    const charged: unknown[] = []
    for (const spelling of [path, `/api${path}`, path]) {
      const answer = await ask(service, spelling, { 'idempotency-key': event.event_id })
      const { rows, meta } = (await answer.json()) as { rows: unknown[]; meta: { charged: number } }
      expect(rows).toHaveLength(1)
      charged.push(meta.charged)
    }
    expect(charged).toEqual([1, 0, 0])
  })

  test.each([
    '/v1/whoami',
    '/v1/organization',
    '/v1/campaigns',
    '/v1/billing/usage',
    '/v1/field-catalog',
    '/v1/lists',
    '/v3/events/web_event',
    '/v3/events_schema',
    '/v2/events',
    '/v1/events_schema',
    '/v1/nothing',
    '/v4/x',
  ])('%s is answered as with it', async (path) => {
    for (const headers of [key, {}]) {
      const [short, long] = await Promise.all(
        [path, `/api${path}`].map(async (each) => {
          const answer = await fetch(service.url + each, {
            headers: headers as Record<string, string>,
          })
          const body = (await answer.text()).replace(
            /"(request_id|complete_until)":"[^"]*"|"(start|end)_ms":\d+|\/api(?=\/)/g,
            '',
          )
          return { status: answer.status, body, limit: answer.headers.get('x-ratelimit-limit') }
        }),
      )
      expect(short).toEqual(long)
    }
  })
})

test('/metrics counts answers by route and status, how long they took, and what was charged', async () => {
  const readMetrics = async () => (await fetch(`${service.url}/metrics`)).text()
  const event = customEvent()
  const before = await readMetrics()
  await postBeacon(service.url, beaconOf(service, [event]))
  await readEvent(service, event.event_id)
  await fetch(`${service.url}/nothing/${event.event_id}`)
  await fetch(`${service.url}/v1/campaigns/${event.event_id}`, { headers: key })
  const metrics = await readMetrics()
  const countOf = (line: string, text = metrics) => {
    const found = text.split('\n').find((each) => each.startsWith(`${line} `))
    return Number(found?.split(' ')[1] ?? 0)
  }
  const route = 'method="GET",route="/api/v3/events/web_event"'
  expect(countOf(`footfall_http_requests_total{${route},status="200"}`)).toBeGreaterThan(0)
  expect(countOf(`footfall_records_charged_total{${route},status="200"}`)).toBeGreaterThan(0)
  const answered = `${route},status="200"`
  const times = countOf(`footfall_http_request_seconds_count{${answered}}`)
  expect(times).toBe(countOf(`footfall_http_requests_total{${answered}}`))
  expect(countOf(`footfall_http_request_seconds_bucket{le="+Inf",${answered}}`)).toBe(times)
  expect(
    countOf('footfall_http_requests_total{method="POST",route="/e",status="200"}'),
  ).toBeGreaterThan(0)
  // By its pattern: what strangers ask for makes no series.
  expect(
    countOf('footfall_http_requests_total{method="GET",route="unknown",status="404"}'),
  ).toBeGreaterThan(0)
  const unknownCampaigns =
    'footfall_http_requests_total{method="GET",route="/api/v1/campaigns/:campaign_id",status="404"}'
  expect(countOf(unknownCampaigns)).toBe(countOf(unknownCampaigns, before) + 1)
  expect(metrics).not.toContain(event.event_id)
})

test('/metrics tells the lag until events can be read, the spool, the shards of ClickHouse, and jobs by state', async () => {
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  const numberOf = (line: string) => {
    const found = metrics.split('\n').find((each) => each.startsWith(`${line} `))
    return found === undefined ? Number.NaN : Number(found.split(' ')[1])
  }
  expect(numberOf('footfall_readable_lag_seconds')).toBeGreaterThanOrEqual(0)
  for (const table of ['events', 'rejected_events'])
    for (const name of ['footfall_spool_bytes', 'footfall_spool_oldest_seconds'])
      expect(numberOf(`${name}{table="${table}"}`), `${name} ${table}`).toBeGreaterThanOrEqual(0)
  expect(numberOf('footfall_spool_max_bytes')).toBe(10_240 * 1024 * 1024)
  expect(numberOf('footfall_spool_disk_free_bytes')).toBeGreaterThan(0)
  for (const state of ['used', 'idle', 'waiting'])
    expect(numberOf(`footfall_postgres_connections{state="${state}"}`)).toBeGreaterThanOrEqual(0)
  expect(numberOf('footfall_clickhouse_shard_up{shard="1"}')).toBe(1)
  for (const state of ['waiting', 'active', 'failed'])
    expect(metrics).toMatch(
      new RegExp(`^footfall_jobs\\{queue="[^"]+",state="${state}"\\} \\d+$`, 'm'),
    )
})
