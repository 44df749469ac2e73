import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../../collector/accounts/keys/apiKeys.ts'
import { type Field, fields } from '../../../schemas/fields.ts'
import { storeOrganization, storePixel, storeProject } from '../../harness/owners.ts'
import { waitFor } from '../../harness/service.ts'
import {
  eventOf,
  openEvents,
  organizationId,
  pixelId,
  projectId,
  type Row,
} from '../events/harness.ts'

/** Share links: figures for viewers of a link, until it ends, and never an identity. */
let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const otherPixel = randomUUID()
const path = '/api/v1/analytics/shares'
const keys = { admin: newApiCredentials('live'), write: newApiCredentials('live') }
const withKey = ({ apiKey, apiSecret }: (typeof keys)['admin']) => ({
  'x-api-key': apiKey,
  'x-api-secret': apiSecret,
})
const madeAs = (role: 'admin' | 'write') => ({ keyId: randomUUID(), role, maker: null })
const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString()

/** Paths and sources that describe a person, or open private data. */
const personal = [
  '/u/ada@customers.example/orders',
  '/u/ben%40customers.example',
  '/u/cy%252540customers.example',
  '/reset/9f86d081884c7d659a2feaa0c55ad015',
  '/orders/5a3b1e00-0000-4000-8000-000000000009',
  '/call/+49-1701234567',
  '/call/(0170)%20123-45-67',
  '/seen-from/203.0.113.195',
  '/u/dee%EF%BC%A0customers.example',
  '/u/eve&#64;customers.example',
]
const harmless = [
  '/',
  '/pricing',
  '/blog/2026/how-to-count-visitors-without-cookies-in-30-days',
  '/p/12345678',
  '/news/2026-11-22-10-things-v1.2.3',
]

beforeAll(async () => {
  // Callers are authenticated as in the service.
  events = await openEvents({ isGuarded: true })
  const { postgres } = events
  await storeOrganization(postgres, organizationId)
  await storeProject(postgres, projectId, organizationId)
  for (const [id, name] of [
    [pixelId, 'Main'],
    [otherPixel, 'Blog'],
  ] as const)
    await storePixel(postgres, id, projectId, name)
  const owner = { organizationId, projectId: null }
  await storeApiKey(postgres, owner, 'live', 'admin', keys.admin, madeAs('admin'))
  await storeApiKey(postgres, owner, 'live', 'write', keys.write, madeAs('write'))
  await events.insertHits(
    [...personal, ...harmless].map((page_path, index) =>
      eventOf(now, (index + 1) * 1_000, {
        page_path,
        page_host: 'shop.example',
        page_url: `https://shop.example${page_path}?email=ada@customers.example&utm_source=${index === 0 ? 'ada%40customers.example' : 'news'}`,
        referrer_url: 'https://search.example/?q=ada@customers.example',
        country: index % 2 === 0 ? 'DE' : 'FR',
        ...(index % 3 === 0 && { pixel_id: otherPixel }),
      }),
    ),
  )
  const bot = { is_bot: true, page_path: '/for-bots', country: 'US' }
  await events.insertHits([
    eventOf(now, 500, bot),
    eventOf(now, 400, { ...bot, pixel_id: otherPixel }),
  ])
})
afterAll(() => events.close())

const make = (body: Row = {}, headers = withKey(keys.admin)) =>
  events.app.inject({
    method: 'POST',
    url: path,
    headers,
    payload: { project_id: projectId, name: 'For the agency', expires_at: inDays(30), ...body },
  })
const made = async (body: Row = {}) => {
  const answer = await make(body)
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json() as { share_link: Row & { share_id: string }; url: string; secret: string }
}
const asked = { start_ms: String(now - 3_600_000), end_ms: String(now + 1), project_id: projectId }
const read = (route: string, query: Record<string, string>, headers: Record<string, string>) =>
  events.app.inject({ url: `/api/v1/analytics/${route}`, query, headers })
const withShare = (secret: string) => ({ authorization: `Bearer ${secret}` })

describe('a share link', () => {
  test('is made by who administers, for a time that has bounds, and kept as a hash', async () => {
    expect((await make({}, withKey(keys.write))).statusCode).toBe(403)
    for (const expires_at of [undefined, inDays(-1), inDays(367), 'tomorrow'])
      expect((await make({ expires_at })).json()).toMatchObject({ error: 'invalid_parameter' })
    expect((await make({ pixel_id: randomUUID() })).json()).toMatchObject({
      error: 'pixel not found',
    })
    expect((await make({ project_id: randomUUID() })).json()).toMatchObject({
      error: 'project not found',
    })

    const { share_link, url, secret } = await made({ pixel_id: otherPixel })
    expect(share_link).toMatchObject({
      name: 'For the agency',
      project_name: 'Shop',
      pixel_id: otherPixel,
      pixel_name: 'Blog',
      created_by: 'admin',
      expires_at: inDays(30),
      last_used_at: null,
    })
    expect(new URL(url)).toMatchObject({
      pathname: `/share/${share_link.share_id}`,
      hash: `#${secret}`,
    })
    const listed = await read('shares', { project_id: projectId }, withKey(keys.admin))
    expect(listed.json().share_links[0]).toEqual(share_link)
    const { rows } = await events.postgres.query(
      "SELECT object_id, details FROM audit_log WHERE action = 'share_link.create' AND object_id = $1",
      [share_link.share_id],
    )
    expect(rows).toEqual([
      {
        object_id: share_link.share_id,
        details: {
          name: 'For the agency',
          project_id: projectId,
          pixel_id: otherPixel,
          expires_at: inDays(30),
        },
      },
    ])
    for (const table of ['share_links', 'audit_log']) {
      const kept = await events.postgres.query(`SELECT t::text AS text FROM ${table} t`)
      expect(JSON.stringify(kept.rows)).not.toContain(secret)
    }
    expect(listed.json().share_links[0].url).toBe(url)
  })

  test('shows the figures that its project’s admin sees, or those of its pixel', async () => {
    const [whole, ofPixel] = [await made(), await made({ pixel_id: otherPixel })]
    for (const [link, more] of [
      [whole, {}],
      [ofPixel, { pixel_id: otherPixel }],
    ] as const) {
      for (const [route, member] of [
        ['overview', 'overview'],
        ['timeseries', 'timeseries'],
        ['breakdown', 'breakdowns'],
        ['live', 'visitors'],
      ] as const) {
        const window = route === 'live' ? { project_id: projectId } : asked
        const query = { ...window, ...(route === 'breakdown' && { dimensions: 'country,browser' }) }
        const seen = await read(route, query, withShare(link.secret))
        expect(seen.statusCode, seen.body).toBe(200)
        const own = await read(route, { ...query, ...more }, withKey(keys.admin))
        expect(seen.json()[member], route).toEqual(own.json()[member])
      }
    }
    expect((await read('overview', asked, withShare(whole.secret))).json().overview.events).toBe(15)
    expect((await read('overview', asked, withShare(ofPixel.secret))).json().overview.events).toBe(
      5,
    )
    const other = await read('overview', { ...asked, pixel_id: pixelId }, withShare(ofPixel.secret))
    expect(other.json()).toMatchObject({ error: 'pixel not found' })
    const own = await read(`shares/${whole.share_link.share_id}`, {}, withShare(whole.secret))
    expect(own.json().share_link).toEqual({
      ...whole.share_link,
      url: null,
      created_by: null,
      last_used_at: null,
    })
    const another = await read(`shares/${ofPixel.share_link.share_id}`, {}, withShare(whole.secret))
    expect(another.statusCode).toBe(404)
    const used = await read(`shares/${whole.share_link.share_id}`, {}, withKey(keys.admin))
    expect(Date.parse(used.json().share_link.last_used_at)).toBeGreaterThan(now - 60_000)
  })

  test('shows no bots, nor how many there are', async () => {
    const { secret } = await made()
    const routes = { overview: asked, timeseries: asked, live: { project_id: projectId } }
    for (const [route, query] of Object.entries({
      ...routes,
      breakdown: { ...asked, dimensions: 'country' },
    })) {
      const withBots = { ...query, include_bots: 'true' }
      const refused = await read(route, withBots, withShare(secret))
      expect([route, refused.statusCode, refused.json()]).toMatchObject([
        route,
        403,
        { error: 'forbidden' },
      ])
      expect(refused.json().message).toContain('include_bots')
      expect((await read(route, withBots, withKey(keys.admin))).statusCode).toBe(200)
    }
    const seen = (await read('overview', asked, withShare(secret))).json()
    expect(seen).toMatchObject({ overview: { events: 15 }, bots: null })
    const own = (await read('overview', asked, withKey(keys.admin))).json()
    expect(own).toMatchObject({
      overview: { events: 15 },
      bots: { events: 2, visitors: 2, page_views: 2 },
    })
    const found = await read('breakdown', { ...asked, dimensions: 'page_path' }, withShare(secret))
    expect(found.body).not.toContain('/for-bots')
  })

  test('tells no address, parameter or source that may tell of a person', async () => {
    const { secret } = await made()
    const dimensions =
      'page_path,entry_page,exit_page,page_host,referrer_host,utm_source,utm_medium,country,source,channel'
    const query = { ...asked, dimensions, limit: '1000' }
    const own = await read('breakdown', query, withKey(keys.admin))
    for (const text of [...personal, ...harmless]) expect(own.body).toContain(text)
    const seen = await read('breakdown', query, withShare(secret))
    const live = await read('live', { project_id: projectId }, withShare(secret))
    for (const body of [seen.body, live.body]) {
      // Any three of its digits may be in a random id.
      const told = body.replace(/"request_id":"[\da-f-]{36}"/, '')
      for (const text of [...personal, 'ada', '@', '%40', 'email=', 'q='])
        expect(told).not.toContain(text)
    }
    const values = (name: string) =>
      seen.json().breakdowns[name].values.map(({ value }: { value: string }) => value)
    expect(values('page_path').sort()).toEqual([...harmless].sort())
    expect(values('utm_source')).toEqual(['news'])
    expect(values('source')).toEqual(['news'])
    expect(values('referrer_host')).toEqual(['search.example'])
  })

  test('asks by nothing that tells of a person: fields, operators, values', async () => {
    let { secret } = await made()
    const shared = [
      'event_type',
      'page_path',
      'page_host',
      'is_entry',
      'referrer_host',
      'utm_source',
    ]
    shared.push(
      'utm_medium',
      'utm_campaign',
      'country',
      'region',
      'city',
      'language',
      'device_type',
    )
    shared.push('browser', 'os', 'source')
    const sampleOf = ({ dataType, values }: Field) =>
      values?.[0] ??
      { Utf8: 'x', Int64: '1', Float64: '1', Boolean: 'true', Timestamp: '2026-01-01' }[dataType]
    const ask = async (query: Record<string, string>) => {
      for (;;) {
        const answer = await read(
          'breakdown',
          { ...asked, dimensions: 'country', ...query },
          withShare(secret),
        )
        if (answer.statusCode !== 429) return answer
        // Each link has a limit of its own.
        secret = (await made()).secret
      }
    }
    for (const field of fields) {
      const value = /_id$/.test(field.name) ? randomUUID() : sampleOf(field)
      const { statusCode } = await ask({ filter: `${field.name}:ne:${value}` })
      const isOpen = shared.includes(field.name)
      expect([field.name, isOpen ? statusCode === 200 : [400, 403].includes(statusCode)]).toEqual([
        field.name,
        true,
      ])
    }
    for (const filter of [
      'page_path:like:/u/ada%',
      'page_path:gt:/u',
      'country:lte:DE',
      'event_data.url:eq:x',
      'page_path:eq:/u/ada@customers.example/orders',
      'page_path:in:/|/u/ben%40customers.example',
    ])
      expect([filter, [400, 403].includes((await ask({ filter })).statusCode)]).toEqual([
        filter,
        true,
      ])
    expect(
      (await ask({ filter: 'page_path:in:/|/pricing' })).json().breakdowns.country.values,
    ).toHaveLength(2)
    for (const dimensions of [
      'page_url',
      'resolved',
      'pixel_id',
      'utm_content',
      'utm_term',
      'country,is_bot',
    ])
      expect([dimensions, (await ask({ dimensions })).statusCode]).toEqual([dimensions, 403])
  })

  test('ends when it expires, and when it is revoked, within a moment', async () => {
    const [expiring, revoked] = [await made(), await made()]
    const isRefused = (secret: string) =>
      waitFor('the link to end', async () => {
        const answer = await read('overview', asked, withShare(secret))
        return answer.statusCode === 401 && answer.json().error === 'invalid_share_link'
      })
    await events.postgres.query('UPDATE share_links SET expires_at = now() WHERE share_id = $1', [
      expiring.share_link.share_id,
    ])
    await isRefused(expiring.secret)
    const one = `${path}/${revoked.share_link.share_id}`
    const revoke = (key = keys.admin) =>
      events.app.inject({ method: 'DELETE', url: one, headers: withKey(key) })
    expect((await revoke(keys.write)).statusCode).toBe(403)
    expect((await read('overview', asked, withShare(revoked.secret))).statusCode).toBe(200)
    expect((await revoke()).statusCode).toBe(204)
    await isRefused(revoked.secret)
    expect((await revoke()).json()).toMatchObject({ error: 'share link not found' })
    const { rows } = await events.postgres.query(
      "SELECT count(*)::int AS entries FROM audit_log WHERE action = 'share_link.revoke' AND object_id = $1",
      [revoked.share_link.share_id],
    )
    expect(rows).toEqual([{ entries: 1 }])
  })

  test('has a limit of its own, which takes nothing from the organization’s keys', async () => {
    const { secret, share_link } = await made()
    const one = `shares/${share_link.share_id}`
    const answers = await Promise.all(
      Array.from({ length: 120 }, () => read(one, {}, withShare(secret))),
    )
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]!.json()).toMatchObject({
      error: 'rate_limited',
      message: expect.stringContaining('link'),
    })
    expect(Number(refused[0]!.headers['retry-after'])).toBeGreaterThan(0)
    expect((await read(one, {}, withKey(keys.admin))).statusCode).toBe(200)
    expect((await read('overview', asked, withShare((await made()).secret))).statusCode).toBe(200)
  })
})

describe('a share link with options', () => {
  const segmentOf = async (filter: string) => {
    const answer = await events.app.inject({
      method: 'POST',
      url: '/api/v1/analytics/segments',
      headers: withKey(keys.admin),
      payload: { project_id: projectId, name: 'Germans', filter },
    })
    return answer.json().segment.segment_id as string
  }
  const overviewOf = async (secret: string, query = {}) =>
    (await read('overview', { ...asked, ...query }, withShare(secret))).json().overview
  const unlock = (secret: string, password: string, remoteAddress = '127.0.0.1') =>
    events.app.inject({
      method: 'POST',
      remoteAddress,
      url: `${path}/unlock`,
      payload: { secret, password },
    })

  test('shows only its segment, whatever the viewer asks and however the segment changes', async () => {
    const segment_id = await segmentOf('country:eq:DE')
    const { secret, share_link } = await made({ segment_id })
    expect(share_link).toMatchObject({ segment_name: 'Germans', filter: 'country:eq:DE' })
    const own = await read('overview', { ...asked, filter: 'country:eq:DE' }, withKey(keys.admin))
    expect(await overviewOf(secret)).toEqual(own.json().overview)
    expect((await overviewOf(secret, { filter: 'country:eq:FR' })).events).toBe(0)
    const query = { ...asked, dimensions: 'country' }
    const { breakdowns } = (await read('breakdown', query, withShare(secret))).json()
    expect(breakdowns.country.values.map(({ value }: Row) => value)).toEqual(['DE'])
    const live = await read('live', { project_id: projectId }, withShare(secret))
    expect(live.json().events).toBe(own.json().overview.events)
    await events.app.inject({
      method: 'PATCH',
      url: `/api/v1/analytics/segments/${segment_id}`,
      headers: withKey(keys.admin),
      payload: { filter: 'country:in:DE|FR' },
    })
    expect(await overviewOf(secret)).toEqual(own.json().overview)
    const seen = await read(`shares/${share_link.share_id}`, {}, withShare(secret))
    expect(seen.json().share_link).toMatchObject({
      segment_name: 'Germans',
      filter: null,
      url: null,
    })
    expect((await make({ segment_id: randomUUID() })).json()).toMatchObject({
      error: 'segment not found',
    })
  })

  test('shows goals by their names where it may, and else none', async () => {
    await events.app.inject({
      method: 'PUT',
      url: '/api/v1/analytics/goals',
      headers: withKey(keys.admin),
      payload: {
        project_id: projectId,
        goals: [{ name: 'Saw prices', filter: 'page_path:eq:/pricing' }],
      },
    })
    const [open, closed] = [await made({ goals: true }), await made()]
    const seen = await read('conversions', asked, withShare(open.secret))
    expect(seen.statusCode, seen.body).toBe(200)
    expect(seen.json().conversions).toMatchObject([{ name: 'Saw prices', filter: '', events: 1 }])
    expect(seen.body).not.toContain('/pricing')
    expect((await read('conversions', asked, withShare(closed.secret))).statusCode).toBe(403)
    const other = { ...asked, project_id: randomUUID() }
    expect((await read('conversions', other, withShare(open.secret))).statusCode).toBe(404)
  })

  test('with a password opens nothing without it, and takes a limited number of attempts', async () => {
    const { secret, share_link } = await made({ password: 'correct horse' })
    expect(share_link.has_password).toBe(true)
    const refusal = { error: 'share_password_required', code: 'share_password_required' }
    for (const route of [`shares/${share_link.share_id}`, 'overview', 'live'])
      expect((await read(route, asked, withShare(secret))).json()).toMatchObject(refusal)
    const { secret: unlocked } = (await unlock(secret, 'correct horse')).json()
    expect((await read('overview', asked, withShare(unlocked))).statusCode).toBe(200)
    const another = await made({ password: 'correct horse' })
    const forged = another.secret + unlocked.slice(secret.length)
    for (const credentials of [`${unlocked}x`, `${secret}.`, `${secret}.AAAA`, forged])
      expect((await read('overview', asked, withShare(credentials))).json()).toMatchObject(refusal)
    const { rows } = await events.postgres.query(
      'SELECT password_hash FROM share_links WHERE share_id = $1',
      [share_link.share_id],
    )
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$/)

    expect((await unlock('ffs_unknown', 'correct horse')).json()).toMatchObject({
      error: 'invalid_share_link',
    })
    const answers: number[] = []
    for (let tries = 0; tries < 12; tries++)
      answers.push((await unlock(another.secret, 'wrong horse')).statusCode)
    expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(11)
    expect(answers.at(-1)).toBe(429)
    expect((await unlock(another.secret, 'correct horse')).statusCode).toBe(429)
  })

  test('with a password takes a limited number of attempts of a network for all links together', async () => {
    const links = await Promise.all(
      Array.from({ length: 15 }, () => made({ password: 'correct horse' })),
    )
    const attempts = links.flatMap(({ secret }) => Array<string>(9).fill(secret))
    const answers = await Promise.all(
      attempts.map((secret) => unlock(secret, 'wrong horse', '192.0.2.7')),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toContain(429)
    // Another network still has attempts.
    expect((await unlock(links[0]!.secret, 'correct horse', '192.0.2.8')).statusCode).toBe(200)
  })

  test('is framed by the origins that it names, and by no others', async () => {
    const page = (shareId: string) => events.app.inject({ url: `/share/${shareId}` })
    const framed = await made({
      embed_origins: ['https://intranet.example', 'http://10.0.0.1:8080'],
    })
    const { headers } = await page(framed.share_link.share_id)
    expect(headers['content-security-policy']).toContain(
      'frame-ancestors https://intranet.example http://10.0.0.1:8080',
    )
    expect(headers['x-frame-options']).toBeUndefined()
    const expired = (await made({ embed_origins: ['https://intranet.example'] })).share_link
      .share_id
    await events.postgres.query('UPDATE share_links SET expires_at = now() WHERE share_id = $1', [
      expired,
    ])
    for (const id of [(await made()).share_link.share_id, expired, randomUUID(), 'nonsense']) {
      const { headers } = await page(id)
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(headers['x-frame-options']).toBe('DENY')
    }
    for (const origin of [
      'https://a.example/path',
      "https://a.example; script-src 'unsafe-inline'",
      '*',
      'https://*',
      'javascript:alert(1)',
      'a.example',
    ])
      expect((await make({ embed_origins: [origin] })).json(), origin).toMatchObject({
        error: 'invalid_parameter',
        parameter: 'embed_origins[0]',
      })
  })
})
