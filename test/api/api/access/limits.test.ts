import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Principal } from '../../../../collector/api/access/principal.ts'
import { createTakeTokens } from '../../../../collector/api/access/rateLimits.ts'
import { ApiError } from '../../../../collector/api/http/errors.ts'
import { openPostgres } from '../../../../collector/platform/postgres/pool.ts'
import type { Answering } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

let databaseUrl: string
let services: Answering[]
beforeAll(async () => {
  const env = { FOOTFALL_RATE_LIMITS: 'true' }
  // As on two machines: the apps share only the stores.
  const [first, second] = [await openTenant({ env }), await openTenant({ env })]
  databaseUrl = first.env.DATABASE_URL!
  services = [first.service, second.service]
})
afterAll(() => Promise.all(services.map((service) => service.stop())))

const ask = (service: Answering, path: string) => {
  const { api_key, api_secret } = services[0]!.demo
  return fetch(`${service.url}${path}`, {
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
  })
}

const newPrincipal = {
  organizationId: randomUUID(),
  projectId: null,
  mode: 'live',
  caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
} as const

/** What X-RateLimit-* headers tell; NaN where there are none. */
const toldBy = (headers: Headers) => {
  const read = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
  return { limit: read('limit'), burst: read('burst'), remaining: read('remaining') }
}

/** Asks at ten times the rate through both services, for so many seconds; what became of the requests. */
async function flood(path: string, perSecond: number, seconds: number) {
  const answers: Promise<Response>[] = []
  const startedAt = performance.now()
  while (performance.now() - startedAt < seconds * 1000) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    while (answers.length < due)
      answers.push(ask(services[answers.length % services.length]!, path))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const all = await Promise.all(answers)
  const tookSeconds = (performance.now() - startedAt) / 1000
  return { all, admitted: all.filter(({ status }) => status === 200).length, tookSeconds }
}

test('ten times the events limit through two processes admits the burst and the rate, not one more', async () => {
  const { all, admitted, tookSeconds } = await flood('/api/v3/events_schema', 120, 4)
  expect(admitted).toBeLessThanOrEqual(25 + 12 * tookSeconds)
  // The limit grants exactly 720 a minute after a burst of 25.
  expect(admitted).toBeGreaterThanOrEqual(25 + 12 * 3.5)
  const refused = all.filter(({ status }) => status === 429)
  expect(refused).not.toHaveLength(0)
  expect(refused.length + admitted).toBe(all.length)
  for (const { headers } of refused) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  expect(
    all
      .flatMap(({ headers }) => [...headers.keys()])
      .filter((name) => name.startsWith('x-ratelimit')),
  ).toEqual([])
})

test('other data routes: 10 a second per key, told in headers by which a client can pace itself', async () => {
  const { all, admitted, tookSeconds } = await flood('/api/v1/rejected_events?limit=1', 100, 2)
  expect(admitted).toBeLessThanOrEqual(10 + 10 * tookSeconds)
  expect(admitted).toBeGreaterThanOrEqual(10 + 10 * 1.5)
  for (const { status, headers } of all) {
    // One key alone is refused by its own limit, long before the organization's.
    expect(toldBy(headers)).toMatchObject({ limit: 10, burst: 10 })
    const { remaining } = toldBy(headers)
    if (status === 429) expect(remaining).toBe(0)
    else expect(remaining).toBeLessThan(10)
  }
  const refused = all.find(({ status }) => status === 429)!
  expect(await refused.json()).toMatchObject({ error: 'rate_limited' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
})

test('whoever waits when nothing remains is never refused', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const remainings: number[] = []
  for (let n = 0; n < 30; n++) {
    const { status, headers } = await ask(services[n % 2]!, '/api/v1/rejected_events?limit=1')
    expect(status).toBe(200)
    const { remaining, limit } = toldBy(headers)
    remainings.push(remaining)
    if (remaining === 0) await new Promise((resolve) => setTimeout(resolve, 1_000 / limit))
  }
  for (const remaining of remainings) expect(Number.isInteger(remaining)).toBe(true)
})

test('headers tell of the organization’s 25 a second, bursts of 50, where several keys share them', async () => {
  const postgres = openPostgres(databaseUrl, () => {})
  try {
    const take = createTakeTokens(postgres)
    const organizationId = randomUUID()
    const toldNow = async () =>
      toldBy(new Headers(await take({ ...newPrincipal, organizationId }, 'data')))
    expect(await toldNow()).toEqual({ limit: 10, burst: 10, remaining: 9 })
    // Other keys have taken all but a few of the organization's.
    await postgres.query(
      'UPDATE rate_limits SET arrival = extract(epoch FROM clock_timestamp()) + 47 / 25.0 WHERE bucket = $1',
      [`organization:${organizationId}:live`],
    )
    expect(await toldNow()).toMatchObject({
      limit: 25,
      burst: 50,
      remaining: expect.toSatisfy((n) => n < 8),
    })
    expect(await take({ ...newPrincipal, organizationId: randomUUID() }, 'events')).toEqual({})
    expect(
      toldBy(
        new Headers(await take({ ...newPrincipal, organizationId: randomUUID() }, 'batch_lookup')),
      ),
    ).toEqual({
      limit: 2,
      burst: 2,
      remaining: 1,
    })
  } finally {
    await postgres.end()
  }
})

test('every limit of the table admits its burst at once and no more; keys and organizations do not share', async () => {
  const postgres = openPostgres(databaseUrl, () => {})
  const take = createTakeTokens(postgres)
  const caller = (organizationId: string): Principal => ({
    organizationId,
    projectId: null,
    mode: 'live',
    caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
  })
  const admittedOf = async (
    limit: Parameters<typeof take>[1],
    principals: Principal[],
    tries: number,
  ) => {
    const startedAt = performance.now()
    const outcomes = await Promise.allSettled(
      Array.from({ length: tries }, (_, n) => take(principals[n % principals.length]!, limit)),
    )
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ApiError)
    }
    return {
      admitted: outcomes.filter(({ status }) => status === 'fulfilled').length,
      seconds: (performance.now() - startedAt) / 1000,
    }
  }
  try {
    const bursts = {
      events: [25, 12],
      data: [50, 25],
      batch_lookup: [2, 2],
      intent: [10, 10],
      intent_preview: [5, 5],
    } as const
    for (const [limit, [burst, rate]] of Object.entries(bursts)) {
      const organization = randomUUID()
      // Keys enough that their own limits do not show.
      const principals = Array.from({ length: 20 }, () => caller(organization))
      const { admitted, seconds } = await admittedOf(limit as keyof typeof bursts, principals, 150)
      expect(admitted, limit).toBeGreaterThanOrEqual(burst)
      expect(admitted, limit).toBeLessThanOrEqual(burst + rate * seconds)
      expect(
        (await admittedOf(limit as keyof typeof bursts, [caller(randomUUID())], 1)).admitted,
      ).toBe(1)
    }
  } finally {
    await postgres.end()
  }
})
