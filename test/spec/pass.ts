/**
 * One pass over the routes of a room: everybody asks every route, and the tests are assertions over the recorded answers.
 * Each lists all wrong routes. Refusals come first, because they must change nothing; what destroys comes last, each time
 * with a tenant of its own.
 */
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import { errorCodes } from '../../collector/api/http/errorCodes.ts'
import { type Caller, insidersOf, outsidersOf, strangersOf } from './callers.ts'
import { type OpenApi, operationOf, undescribed } from './described.ts'
import { freeAnswers } from './freeAnswers.ts'
import { type Asked, askRoute, type Room, type Route, routesOf } from './record.ts'
import { answeredScopes, namesRecord, placesOf, refusedScopes, type ScopeCase } from './scope.ts'
import { newTenant } from './tenant.ts'
import { stateOf } from './tenantState.ts'
import { liveTexts, type Tenants, tenantsOfWorker, withKey } from './tenants.ts'

interface Expected {
  /** Routes whose answers to a key are charged. */
  readonly charged: readonly string[]
  /** Routes whose answers to a key have people in them. */
  readonly people: readonly string[]
  /** Operations that take a free answer. */
  readonly free: readonly string[]
  /** How many routes give a test key an answer, at least. */
  readonly sampled: number
}

/** The request that makes what a deletion deletes, where a new tenant lacks it. */
const neededBefore: Readonly<Record<string, string>> = {
  'DELETE /api/v1/project/user/delete': 'POST /api/v1/project/user/create',
}

/** Asks all routes of a room, and declares the tests. */
export function testRoom(room: Room, expected: Expected): void {
  let tenants: Tenants
  let routes: Route[]
  let document: OpenApi
  /** Every answer, and the wrong ones by caller. */
  const record: Asked[] = []
  const wrong: Record<'strangers' | 'outsiders' | 'scope' | 'insiders' | 'sample', object[]> = {
    strangers: [],
    outsiders: [],
    scope: [],
    insiders: [],
    sample: [],
  }
  /** Callers who changed something, though they were refused. */
  const changes: string[] = []
  /** Everything that is kept of ours, after the last caller. */
  let state: Record<string, unknown> | null = null
  const freeTaken: Record<string, number> = {}

  beforeAll(async () => {
    tenants = await tenantsOfWorker()
    routes = routesOf(tenants, room)
    document = (await tenants.app.inject('/openapi.json')).json()
    for (const caller of await strangersOf(tenants)) await refuse(caller, wrong.strangers)
    for (const caller of outsidersOf(tenants)) await refuse(caller, wrong.outsiders)
    await unchanged('requests for other projects', async () =>
      askAbout(await refusedScopes(tenants, routes)),
    )
    await askAsTest()
    for (const caller of insidersOf(tenants)) await askAll(caller, wrong.insiders)
    await askAbout(await answeredScopes(tenants, routes))
    await destroy()
  }, 600_000)

  /** Runs requests that must change nothing of ours. */
  async function unchanged(who: string, run: () => Promise<void>): Promise<void> {
    state ??= await stateOf(tenants.postgres, tenants.ours)
    const before = state
    await run()
    state = await stateOf(tenants.postgres, tenants.ours)
    for (const table of Object.keys(before))
      if (!isDeepStrictEqual(before[table], state[table])) changes.push(`${who}: ${table}`)
  }

  const refuse = (caller: Caller, faults: object[]) =>
    unchanged(caller.who, () => askAll(caller, faults))

  async function askAll(caller: Caller, faults: object[]): Promise<void> {
    const { who, asks = () => true, isAboutTheirs } = caller
    const tenant = isAboutTheirs ? tenants.theirs : tenants.ours
    const headers = await caller.headers()
    const isCounted = who === 'with a key of the organization'
    for (const route of routes.filter(asks)) {
      const before = isCounted ? await left() : 0
      const { answer, sent } = await askRoute(tenants, route.name, { who, headers, tenant })
      if (isCounted) freeTaken[route.name] = before - (await left())
      record.push(answer)
      const fault = caller.expects(route, answer, sent)
      if (fault) faults.push({ name: route.name, who, ...fault })
    }
  }

  const left = async () => (await tenants.allowance.read(tenants.ours.organizationId)).left

  async function askAbout(cases: readonly ScopeCase[]): Promise<void> {
    for (const { route, request, expects } of cases) {
      const { answer } = await askRoute(tenants, route.name, request)
      record.push(answer)
      const fault = expects(answer)
      if (fault) wrong.scope.push({ name: route.name, who: request.who, ...fault })
    }
  }

  /** Test keys ask about live records: no answer contains live data, and nothing changes. */
  async function askAsTest(): Promise<void> {
    const { ours, postgres } = tenants
    const live = await liveTexts(postgres, ours)
    const sample = {
      organizationId: sampleIdentity.organizationId,
      projects: [sampleIdentity.projectId],
    }
    const before = await stateOf(postgres, sample)
    for (const which of ['testKey', 'testProjectKey'] as const) {
      await unchanged(`with a ${which}`, async () => {
        for (const { name, access } of routes) {
          if (access.to !== 'key') continue
          const request = { who: which, headers: withKey(ours[which]), tenant: ours }
          const { answer, sent } = await askRoute(tenants, name, request)
          record.push(answer)
          // The key’s own project is what it is bound to.
          const known = which === 'testProjectKey' ? `${sent.text}${ours.projects[0]}` : sent.text
          const told = live.filter((text) => answer.text.includes(text) && !known.includes(text))
          if (told.length > 0) wrong.sample.push({ name, which, told })
          if (answer.status !== 403 && answer.mode !== 'test')
            wrong.sample.push({ name, which, mode: answer.mode })
          if (answer.status === 500) wrong.sample.push({ name, which, status: 500 })
        }
      })
    }
    if (!isDeepStrictEqual(before, await stateOf(postgres, sample))) changes.push('the sample')
  }

  /** Deletions, each of a new tenant’s records. */
  async function destroy(): Promise<void> {
    for (const { name, access } of routes.filter((route) => route.name.startsWith('DELETE'))) {
      const tenant = await newTenant(tenants.postgres, 'Cedar')
      const headers =
        access.to === 'session' ? await tenants.withSession(tenant.owner) : withKey(tenant.key)
      const who = 'who owns what it deletes'
      const needed = neededBefore[name]
      if (needed) await askRoute(tenants, needed, { who, headers, tenant })
      const { answer } = await askRoute(tenants, name, { who, headers, tenant })
      record.push(answer)
      // These also ask for the password, the organization’s name, or a record that the sample does not have.
      const asksMore = /two-factor|\/sessions\/|\/keys\/|single-sign-on|v1\/organization$/.test(
        name,
      )
      if (answer.status >= 300 && answer.status !== 409 && !asksMore)
        wrong.insiders.push({ name, status: answer.status, text: answer.text })
    }
  }

  test('nobody is let in without a valid credential, and 401 tells nothing', () => {
    expect(wrong.strangers).toEqual([])
  })

  test('callers of other organizations, projects and links read and change nothing', () => {
    expect(wrong.outsiders).toEqual([])
    expect(record.map(({ text }) => text).some((text) => text.includes('"error"'))).toBe(true)
  })

  test('nothing changes by a refused request, nor by a test key', () => {
    expect(changes).toEqual([])
  })

  test('the project of a request is the one that it names, wherever it may, and no other', () => {
    expect(wrong.scope).toEqual([])
  })

  test('every route for records of projects takes a project', () => {
    const deaf = routes.filter(
      (route) =>
        placesOf(route).length === 0 &&
        (namesRecord(tenants, route) ||
          (route.access.to === 'key' && route.access.projectKeys === 'own project')),
    )
    // It lists all projects of the caller.
    expect(deaf.map(({ name }) => name).filter((name) => name !== 'GET /api/v1/whoami')).toEqual([])
  })

  test('keys and sessions are let in everywhere they belong', () => {
    expect(wrong.insiders).toEqual([])
  })

  test('a test key reads nothing live', () => {
    expect(wrong.sample).toEqual([])
    // The proof depends on answers, not on refusals.
    for (const which of ['testKey', 'testProjectKey'])
      expect(
        record.filter(({ who, status }) => who === which && status === 200).length,
      ).toBeGreaterThanOrEqual(expected.sampled)
  })

  test('every answer is as the document describes it', () => {
    expect(undescribed(document, record)).toEqual([])
  })

  test('every error has a code of its `error`', () => {
    const uncoded = record.filter(
      ({ status, error, code }) =>
        status >= 400 &&
        !(errorCodes[error as keyof typeof errorCodes] as readonly unknown[])?.includes(code),
    )
    expect(uncoded).toEqual([])
  })

  test('`meta.charged` of a charged answer is what X-Footfall-Charged says', () => {
    const charged = record.filter(
      ({ status, charged, who }) =>
        status === 200 && charged !== undefined && who.startsWith('with a key of the organization'),
    )
    const different = charged.filter(
      ({ text, charged }) => JSON.parse(text).meta?.charged !== Number(charged),
    )
    expect(different).toEqual([])
    expect(charged.map(({ name }) => name)).toEqual(expect.arrayContaining([...expected.charged]))
  })

  test('answers with people in them are among those that were compared', () => {
    const withoutPeople = expected.people.filter(
      (name) =>
        !record.some(
          ({ name: asked, who, text }) =>
            asked === name &&
            who === 'with a key of the organization' &&
            /"hem":"[0-9a-f]{64}"|"resolved_visitors":1/.test(text),
        ),
    )
    expect(withoutPeople).toEqual([])
  })

  test('a request takes no more free answers than the line of its operation says', () => {
    const idOf = (name: string) => operationOf(document, name)?.operationId
    const taken = Object.entries(freeTaken).filter(
      ([name]) => /^(GET|POST) /.test(name) && idOf(name),
    )
    expect(taken.filter(([name, count]) => count > freeAnswers[idOf(name)!]!)).toEqual([])
    expect(taken.filter(([, count]) => count === 1).map(([name]) => idOf(name))).toEqual(
      expect.arrayContaining([...expected.free]),
    )
  })
}
