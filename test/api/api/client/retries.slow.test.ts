/**
 * Waits, retries and failures of the client, against a service that is overloaded, unavailable, or
 * interrupted.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ClientOptions } from '../../../../collector/api/client/client.d.ts'
import { ApiError, createClient } from '../../../../collector/api/client/index.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../../../harness/api.ts'
import { ownDatabases } from '../../../harness/databases.ts'
import { type PostgresProxy, startPostgresProxy } from '../../../harness/postgresProxy.ts'
import { type Relay, startRelay } from '../../../harness/relay.ts'
import { type Service, startService } from '../../../harness/service.ts'

let postgres: PostgresProxy
let service: Service
let relay: Relay
beforeAll(async () => {
  const env = await ownDatabases()
  postgres = await startPostgresProxy(env.DATABASE_URL!, 'none')
  service = await startService({
    env: {
      ...env,
      DATABASE_URL: postgres.url,
      FOOTFALL_RATE_LIMITS: 'true',
      FOOTFALL_WORKERS: '1',
    },
  })
  relay = await startRelay(service.url)
})
afterAll(async () => {
  relay?.close()
  await service?.stop()
  await postgres?.refuse()
})
beforeEach(() => {
  Object.assign(relay, { requests: [], toLose: 0, isSilent: false })
})

interface Try {
  at: number
  status: number
  retryAfter: number
}

/** A client of the service with the demo's key, and what each of its tries was answered. */
function newClient(options: ClientOptions = {}, onTry: (one: Try) => unknown = () => {}) {
  const { api_key, api_secret } = service.demo
  const tries: Try[] = []
  const client = createClient({
    baseUrl: service.url,
    key: api_key,
    secret: api_secret,
    async fetch(url, init) {
      const answer = await fetch(url, init)
      const { status, headers } = answer
      tries.push({ at: performance.now(), status, retryAfter: Number(headers.get('retry-after')) })
      await onTry(tries.at(-1)!)
      return answer
    },
    ...options,
  })
  return { client, tries }
}

const errorOf = async (call: Promise<unknown>): Promise<ApiError> => {
  const error = await call.then(
    () => 'an answer',
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

async function newEvents(count: number): Promise<string> {
  const events = Array.from({ length: count }, () => customEvent({ batch: crypto.randomUUID() }))
  await postBeacon(service.url, beaconOf(service, events))
  for (const { event_id } of events) await readEvent(service, event_id)
  return `event_id:in:${events.map(({ event_id }) => event_id).join('|')}`
}

test('calls beyond the rate limit wait for as long as they are told, and are all answered', async () => {
  // Twice a second, for the whole organization: slow enough for any machine to exceed it.
  const clients = Array.from({ length: 8 }, () => newClient({ maxTries: 20 }))
  const items = [{ id: 'a', email: 'nobody@nowhere.example' }]
  await Promise.all(clients.map(({ client }) => client.lookUpPeople({ items })))
  const refused = clients.filter(({ tries }) => tries.some(({ status }) => status === 429))
  expect(refused.length).toBeGreaterThan(0)
  for (const { tries } of refused) {
    for (const [index, { at, retryAfter, status }] of tries.slice(0, -1).entries()) {
      expect(status).toBe(429)
      // Timers count in integers of milliseconds.
      expect(tries[index + 1]!.at - at).toBeGreaterThan(retryAfter * 1000 - 2)
    }
  }
})

test('503 of a service whose database is away is waited out', async () => {
  const { client, tries } = newClient({ maxTries: 10 }, ({ status }) => {
    if (status === 503 && tries.length === 1) return postgres.accept()
  })
  await postgres.refuse()
  expect((await client.listProjects()).projects.length).toBeGreaterThan(0)
  expect(tries.map(({ status }) => status)).toEqual([503, ...tries.slice(2).map(() => 503), 200])
  expect(tries[1]!.at - tries[0]!.at).toBeGreaterThan(tries[0]!.retryAfter * 1000 - 2)
})

test('tries and waits are bounded: after the last try, and before a longer wait, the error is thrown', async () => {
  await postgres.refuse()
  try {
    const some = newClient({ maxTries: 2 })
    expect(await errorOf(some.client.listProjects())).toMatchObject({
      name: 'ApiError',
      status: 503,
      code: 'busy',
      retryAfterSeconds: 2,
      details: { request_id: expect.any(String) },
    })
    expect(some.tries.length).toBe(2)

    const hasty = newClient({ maxWaitMs: 500 })
    expect((await errorOf(hasty.client.listProjects())).code).toBe('busy')
    expect(hasty.tries.length).toBe(1)
  } finally {
    await postgres.accept()
  }
})

test('a charged call whose answer is lost is repeated with its Idempotency-Key, and charged once', async () => {
  const filter = await newEvents(3)
  const usage = async () => (await newClient({ maxTries: 10 }).client.getUsage()).records
  const before = await usage()
  relay.toLose = 1
  const page = await newClient({ baseUrl: relay.url }).client.listEvents({ filter })
  expect(page.rows.length).toBe(3)
  expect(page.meta.charged).toBe(0)
  expect((await usage()) - before).toBe(3)
  const keys = relay.requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]])

  // Another call is another purchase; the caller's own key makes two calls one.
  await newClient({ baseUrl: relay.url }).client.listEvents({ filter })
  expect(relay.requests[2]!.headers['idempotency-key']).not.toBe(keys[0])
  const { client } = newClient()
  const charged = async () =>
    (await client.listEvents({ filter }, { idempotencyKey: 'mine' })).meta.charged
  expect([await charged(), await charged()]).toEqual([3, 0])
})

test('what changes something is not repeated when its answer is lost', async () => {
  relay.toLose = 1
  const { client } = newClient({ baseUrl: relay.url })
  const error = await errorOf(client.createProject({ name: 'Made once' }))
  expect(error).toMatchObject({ status: 0, code: 'unreachable', retryAfterSeconds: null })
  expect(error.cause).toBeInstanceOf(Error)
  expect(relay.requests.length).toBe(1)
  const { projects } = await client.listProjects()
  expect(projects.filter(({ name }) => name === 'Made once').length).toBe(1)
})

test('a usage limit is an error at once, with what the service says of it', async () => {
  const filter = await newEvents(2)
  const { client, tries } = newClient()
  const limit = (daily_records: number | null) =>
    client.setUsageLimits({
      budgets: [],
      limits: [{ meter: 'events', daily_records, monthly_records: null }],
    })
  await limit(1)
  tries.length = 0
  expect(await errorOf(client.listEvents({ filter }))).toMatchObject({
    status: 429,
    code: 'platform_cap_exceeded',
    details: {
      kind: expect.stringMatching(/^(limit_reached|request_too_large)$/),
      meter: 'events',
    },
  })
  expect(tries.length).toBe(1)
  await limit(null)
})

test('an aborted call ends at once with the signal’s reason, while it waits and while it is asked', async () => {
  await postgres.refuse()
  const waiting = new AbortController()
  const { client, tries } = newClient({ maxTries: 10 }, () => waiting.abort('enough'))
  try {
    await expect(client.listProjects({}, { signal: waiting.signal })).rejects.toBe('enough')
    expect(tries.length).toBe(1)
  } finally {
    await postgres.accept()
  }

  relay.isSilent = true
  const asking = new AbortController()
  const call = newClient({ baseUrl: relay.url }).client.whoAmI({}, { signal: asking.signal })
  await expect.poll(() => relay.requests.length).toBe(1)
  asking.abort(new Error('gone'))
  await expect(call).rejects.toThrow('gone')
  await expect(client.whoAmI({}, { signal: asking.signal })).rejects.toThrow('gone')
})

test('a try without an answer ends after its time, and the next one is made', async () => {
  relay.isSilent = true
  const { client } = newClient({ baseUrl: relay.url, timeoutMs: 300, maxTries: 2 })
  expect(await errorOf(client.whoAmI())).toMatchObject({ status: 0, code: 'timeout' })
  expect(relay.requests.length).toBe(2)
})

test('a token of POST /auth/v1/login serves instead of a key', async () => {
  const { admin_email: email, admin_password: password } = service.demo
  const { token } = await createClient({ baseUrl: service.url }).logIn({ email, password })
  const { caller } = await createClient({ baseUrl: service.url, token }).whoAmI()
  expect(caller).toMatchObject({ kind: 'member', email })
})

test('without an address outside of a page, there is a sentence', () => {
  expect(() => createClient()).toThrow('baseUrl: "" is not the address of a service')
})
