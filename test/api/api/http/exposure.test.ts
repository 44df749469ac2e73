/** What of the service is open to whom: other sites' pages, this machine, whoever has a token. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../collector/platform/localStores/supervise.ts'
import { type Answering, startService } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

const metricsToken = 'a-token-of-some-length'
const publicUrl = 'https://collector.example'

let stores: Record<string, string>
let service: Answering
beforeAll(async () => {
  const tenant = await openTenant({
    env: { FOOTFALL_PUBLIC_URL: publicUrl, FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' },
    hasShop: true,
  })
  service = tenant.service
  const { DATABASE_URL, CLICKHOUSE_URL, CLICKHOUSE_DATABASE } = tenant.env
  stores = {
    DATABASE_URL: DATABASE_URL!,
    CLICKHOUSE_URL: CLICKHOUSE_URL!,
    CLICKHOUSE_DATABASE: CLICKHOUSE_DATABASE!,
  }
})
afterAll(() => service.stop())

const elsewhere = 'https://elsewhere.example'
const unknown = ['/nothing', '/e/more', '/p']
const corsOf = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('Strict-Transport-Security, as FOOTFALL_PUBLIC_URL is https', () => {
  const of = async (path: string, init?: RequestInit) =>
    (await fetch(service.url + path, init)).headers.get('strict-transport-security')

  test.each([
    '/',
    '/sign-in',
    '/docs',
    '/docs/api',
    '/openapi.json',
    '/demo',
    '/api/v1/whoami',
    '/api/v1/nothing',
    '/dashboard/session',
    '/nothing',
  ])('is in the answer of %s', async (path) => {
    expect(await of(path, { headers: { accept: 'text/html' } })).toBe('max-age=31536000')
  })

  test.each(['/e', '/e.gif', '/p/x.js', '/v1/track'])(
    'is not in that of %s, which proxies publish under the names of other sites',
    async (path) => {
      expect(await of(path)).toBeNull()
      expect(await of(path, { method: 'POST', body: '{}' })).toBeNull()
    },
  )
})

describe('pages of other sites', () => {
  test.each(['/e', '/e.gif', '/p/x.js', '/v1/track', '/v1/b'])(
    '%s is open to them, with the visitor’s cookie',
    async (path) => {
      const preflight = await fetch(service.url + path, {
        method: 'OPTIONS',
        headers: { origin: elsewhere, 'access-control-request-method': 'POST' },
      })
      expect(preflight.status).toBe(204)
      const answer = await fetch(service.url + path, {
        method: path === '/e' || path.startsWith('/v1/') ? 'POST' : 'GET',
        headers: { origin: elsewhere },
      })
      for (const { headers } of [preflight, answer]) {
        expect(headers.get('vary')).toMatch(/\bOrigin\b/)
        expect(headers.get('access-control-allow-origin')).toBe(elsewhere)
        expect(headers.get('access-control-allow-credentials')).toBe('true')
      }
    },
  )

  test.each([
    '/',
    '/api/v1/whoami',
    '/api/v3/events/web_event',
    '/api/v1/organization',
    '/dashboard/session',
    '/dashboard/invitation/x',
    '/auth/v1/login',
    '/docs',
    '/openapi.json',
    '/healthz',
    '/metrics',
    '/demo',
    '/demo/rows',
    ...unknown,
  ])('%s is not', async (path) => {
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const answer = await fetch(service.url + path, {
        method,
        headers: {
          origin: elsewhere,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'x-api-key',
        },
      })
      await answer.body?.cancel()
      expect({ method, cors: corsOf(answer) }).toEqual({ method, cors: [] })
      if (method === 'OPTIONS') expect(answer.status).toBe(unknown.includes(path) ? 404 : 405)
    }
  })
})

describe('a session', () => {
  /** As a browser that is signed in would ask, through a proxy that is believed. */
  const signedIn = async (headers: Record<string, string>) => {
    const { admin_email: email, admin_password: password } = service.demo
    const answer = await fetch(`${service.url}/dashboard/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(
      /^__Host-footfall_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    const leave = (name: string) =>
      fetch(`${service.url}/dashboard/session`, {
        method: 'DELETE',
        headers: {
          cookie: `${name}${cookie!.slice(cookie!.indexOf('='), cookie!.indexOf(';'))}`,
          ...headers,
        },
      })
    return { leave }
  }

  test('serves pages of FOOTFALL_PUBLIC_URL, whatever host a request says it is for', async () => {
    const { leave } = await signedIn({ origin: publicUrl, 'x-forwarded-host': 'another.example' })
    expect((await leave('__Host-footfall_session')).status).toBe(204)
  })

  test.each([
    [
      'a forwarded host',
      { origin: elsewhere, 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-proto': 'https' },
    ],
    ['another scheme', { origin: 'http://collector.example' }],
    ['another port', { origin: 'https://collector.example:444' }],
    ['no origin, and no word of the browser', {}],
  ])('does not serve what only %s makes look like one', async (_what, headers) => {
    const answer = await (await signedIn(headers as Record<string, string>)).leave(
      '__Host-footfall_session',
    )
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      403,
      'cross_origin',
    ])
  })

  test('is not taken from a cookie that another host of the domain could have set', async () => {
    const { leave } = await signedIn({ origin: publicUrl })
    expect((await leave('footfall_session')).status).toBe(401)
  })
})

describe('pages', () => {
  test.each(['/', '/demo', '/demo/checkout', '/docs', '/docs/'])(
    '%s takes nothing from elsewhere, is framed by nobody, and what it is is not guessed',
    async (path) => {
      const { headers, status } = await fetch(service.url + path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(/^text\/html/)
      const policy = headers.get('content-security-policy')
      expect(policy).toMatch(/^default-src 'none'; /)
      expect(policy).toContain("frame-ancestors 'none'")
      // A page without the directive may run nothing: default-src.
      expect(policy!.match(/script-src [^;]*/)?.[0] ?? '').not.toMatch(/unsafe|\*|http/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
    },
  )
})

describe('/metrics', () => {
  const metricsOf = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/metrics`, { headers })
    return {
      status: answer.status,
      hasNumbers: (await answer.text()).includes('footfall_'),
      headers: answer.headers,
    }
  }

  test('answers this machine alone where nothing is set, and not what a proxy brings', async () => {
    expect(await metricsOf(service.url)).toMatchObject({ status: 200, hasNumbers: true })
    for (const name of ['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP']) {
      expect(await metricsOf(service.url, { [name]: '127.0.0.1' })).toMatchObject({
        status: 403,
        hasNumbers: false,
      })
    }
  })

  test('is on a port of its own and asks for its token, where these are set', async () => {
    const port = await freePort()
    const own = await startService({
      env: { ...stores, FOOTFALL_METRICS_PORT: String(port), FOOTFALL_METRICS_TOKEN: metricsToken },
    })
    try {
      expect(await metricsOf(own.url)).toMatchObject({ status: 404, hasNumbers: false })
      const url = `http://127.0.0.1:${port}`
      for (const authorization of ['', `Bearer ${metricsToken}x`, `Basic ${metricsToken}`]) {
        const refused = await metricsOf(url, authorization ? { authorization } : {})
        expect(refused).toMatchObject({ status: 401, hasNumbers: false })
        expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /)
      }
      const allowed = await metricsOf(url, { authorization: `Bearer ${metricsToken}` })
      expect(allowed).toMatchObject({ status: 200, hasNumbers: true })
      expect((await fetch(`${url}/openapi.json`)).status).toBe(404)
    } finally {
      await own.stop()
    }
  })
})
