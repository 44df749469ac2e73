import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createTakeTokens } from '../../../collector/access/limits.ts'
import type { Principal } from '../../../collector/access/principal.ts'
import { ApiError } from '../../../collector/errors.ts'
import { openPostgres } from '../../../collector/postgres/pool.ts'
import { newPostgresDatabase, randomName } from '../../harness/databases.ts'
import { type Service, startService } from '../../harness/service.ts'

let databaseUrl: string
let services: Service[]
beforeAll(async () => {
  databaseUrl = await newPostgresDatabase()
  const env = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: randomName(),
    FOOTFALL_RATE_LIMITS: 'true',
    FOOTFALL_WORKERS: '1',
  }
  const first = await startService({ env: { ...env, FOOTFALL_DEMO: 'true' } })
  // Another machine, as far as the first can tell: they share only the stores.
  services = [first, await startService({ env: { ...env, FOOTFALL_ROLE: 'api' } })]
})
afterAll(() => Promise.all(services.map((service) => service.stop())))

const ask = (service: Service, path: string) => {
  const { api_key, api_secret } = services[0]!.demo
  return fetch(`${service.url}${path}`, { headers: { 'x-api-key': api_key, 'x-api-secret': api_secret } })
}

/** Asks at ten times the rate through both services, for so many seconds; what became of the requests. */
async function flood(path: string, perSecond: number, seconds: number) {
  const answers: Promise<Response>[] = []
  const startedAt = performance.now()
  while (performance.now() - startedAt < seconds * 1000) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    while (answers.length < due) answers.push(ask(services[answers.length % services.length]!, path))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const all = await Promise.all(answers)
  const tookSeconds = (performance.now() - startedAt) / 1000
  return { all, admitted: all.filter(({ status }) => status === 200).length, tookSeconds }
}

test('ten times the events limit through two processes admits the burst and the rate, not one more', async () => {
  const { all, admitted, tookSeconds } = await flood('/api/v3/events_schema', 120, 4)
  expect(admitted).toBeLessThanOrEqual(25 + 12 * tookSeconds)
  // What the limit grants is granted: 720 a minute after a burst of 25.
  expect(admitted).toBeGreaterThanOrEqual(25 + 12 * 3.5)
  const refused = all.filter(({ status }) => status === 429)
  expect(refused.length + admitted).toBe(all.length)
  for (const { headers } of refused) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  expect(
    all.flatMap(({ headers }) => [...headers.keys()]).filter((name) => name.startsWith('x-ratelimit')),
  ).toEqual([])
})

test('other data routes: 10 a second per key, and the organization’s 25 a second are told in headers', async () => {
  const { all, admitted, tookSeconds } = await flood('/api/v1/rejected_events?limit=1', 100, 2)
  expect(admitted).toBeLessThanOrEqual(10 + 10 * tookSeconds)
  expect(admitted).toBeGreaterThanOrEqual(10 + 10 * 1.5)
  const first = all[0]!
  expect(first.headers.get('x-ratelimit-limit')).toBe('25')
  expect(first.headers.get('x-ratelimit-burst')).toBe('50')
  expect(Number(first.headers.get('x-ratelimit-remaining'))).toBeLessThanOrEqual(25)
  const refused = all.find(({ status }) => status === 429)!
  expect(await refused.json()).toMatchObject({ error: 'rate_limited' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
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
  const admittedOf = async (limit: Parameters<typeof take>[1], principals: Principal[], tries: number) => {
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
      expect((await admittedOf(limit as keyof typeof bursts, [caller(randomUUID())], 1)).admitted).toBe(1)
    }
  } finally {
    await postgres.end()
  }
})
