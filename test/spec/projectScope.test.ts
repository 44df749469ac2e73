/**
 * The project of a request. Every route that accepts one is called for each project, in each place that can
 * name it, by each kind of key. The routes come from the app and from samples.ts, so new routes are included.
 */
import { randomUUID } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../collector/accounts/keys/apiKeys.ts'
import type { Access } from '../../collector/api/access/routeAccess.ts'
import { samples } from './samples.ts'
import { stateOf } from './tenantState.ts'
import { openTenants, withKey } from './tenants.ts'

let service: Awaited<ReturnType<typeof openTenants>>
/** How a caller is let in: by a key of the organization or of its first project, by an owner’s session. */
let callers: Record<'organization' | 'project' | 'session', Record<string, string>>
beforeAll(async () => {
  service = await openTenants()
  const { organizationId, projects, owner, key } = service.ours
  const ofFirst = newApiCredentials('live')
  await storeApiKey(
    service.postgres,
    { organizationId, projectId: projects[0] },
    'live',
    'first',
    ofFirst,
  )
  callers = {
    organization: withKey(key),
    project: withKey(ofFirst),
    session: await service.withSession(owner),
  }
})
afterAll(() => service.close())

type Named = 'own' | 'other' | 'foreign' | 'malformed'
/** The project of the sample's records, another of the organization, one of another organization, and none. */
const projectId = (named: Named): string =>
  ({
    own: service.ours.projects[0],
    other: service.ours.projects[1],
    foreign: service.theirs.projects[0],
    malformed: 'nonsense',
  })[named]

const parts = { path: 'params', query: 'querystring', body: 'body' } as const
type Place = 'header' | keyof typeof parts

interface Route {
  name: string
  access: Exclude<Access, { to: 'anyone' }>
  /** The places that can name a project; none for a route that takes no project. */
  places: readonly Place[]
  /** Whether the sample names a record of the first project, which another project does not have. */
  namesRecord: boolean
}

const isClosedTo = (by: 'organization' | 'project', { access }: Route): boolean =>
  by === 'project' && access.to === 'key' && access.projectKeys === 'refused'

const routes = (): Route[] =>
  Object.keys(samples).map((name) => {
    const route = service.app.guardedRoutes.find(({ method, url }) => `${method} ${url}` === name)!
    const access = route.config!.access as Route['access']
    return { name, access, places: placesOf(name, route), namesRecord: namesRecord(name) }
  })

function placesOf(name: string, { schema }: RouteOptions): Place[] {
  const takes = (place: keyof typeof parts) =>
    Object.hasOwn(
      (schema?.[parts[place]] as { properties?: object } | undefined)?.properties ?? {},
      'project_id',
    )
  const inRequest = (Object.keys(parts) as (keyof typeof parts)[]).filter(
    // The body of a clone names the project that the clone is for.
    (place) => takes(place) && !(place === 'body' && name.endsWith('/clone')),
  )
  // A list is created by JSON or by a file, so no schema of Fastify's has its members.
  if (name === 'POST /api/v1/lists') inRequest.push('body')
  return inRequest.length === 0 ? [] : ['header', ...inRequest]
}

function namesRecord(name: string): boolean {
  const { ours } = service
  const sent = JSON.stringify([
    samples[name]!.params?.(ours),
    samples[name]!.query?.(ours),
    samples[name]!.body?.(ours),
  ])
  const lists = [
    ours.pixels,
    ours.campaigns,
    ours.webhooks,
    ours.shares,
    ours.segments,
    ours.funnels,
    ours.annotations,
    ours.alerts,
    ours.archives,
    ours.visitAlerts,
    ours.integrations,
    ours.buckets,
    ours.exports,
  ]
  return [...lists, ours.audiences, ours.builds, ours.lists, ours.imports]
    .map(([first]) => first)
    .concat(ours.sentExport, ours.sentRun)
    .some((id) => sent.includes(id))
}

/** Asks about our first project's records, and names projects in these places alone. */
async function ask(
  name: string,
  headers: Record<string, string>,
  named: Partial<Record<Place, string>>,
) {
  const [method, path] = name.split(' ') as ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]
  const { params, query, body } = samples[name]!
  const naming = (part: Record<string, unknown> | undefined, id: string | undefined) => {
    const { project_id: _, ...rest } = part ?? {}
    return id === undefined ? rest : { ...rest, project_id: id }
  }
  const values = naming(params?.(service.ours), named.path)
  const answer = await service.app.inject({
    method,
    url: path.replace(/:(\w+)/g, (_, parameter) => String(values[parameter])),
    query: naming(query?.(service.ours), named.query) as Record<string, string>,
    headers: named.header === undefined ? headers : { ...headers, 'x-project-id': named.header },
    ...(body && { payload: naming(body(service.ours), named.body) }),
  })
  const { error, parameter } = answer.body.startsWith('{"error"') ? answer.json() : {}
  return { name, named, status: answer.statusCode, error, parameter, text: answer.body }
}

/** A route in each of its places, as a caller that may ask it; the path names its project whatever else does. */
function cases(by: 'organization' | 'project', named: Named) {
  return routes()
    .filter(
      ({ places, access }) => places.length > 0 && !(by === 'project' && access.to === 'session'),
    )
    .flatMap((route) =>
      route.places
        .filter((place) => place === 'path' || !route.places.includes('path'))
        .map((place) => ({
          ...route,
          headers: callers[route.access.to === 'session' ? 'session' : by],
          place: { [place]: projectId(named) } as Partial<Record<Place, string>>,
        })),
    )
}

const isAnswered = (status: number): boolean => [200, 201, 202, 204, 409].includes(status)
/** Intent data belongs to no project: the project is the one of an `audience_id`, which the samples do not name. */
const isIntent = (name: string): boolean => name.includes('/api/v1/intent/')
/** Its body refers to records of the project, and a body that is wrong is 400. */
const refersToRecords = ['POST /api/v1/exports', 'POST /api/v1/archives']
const recordNotFound = expect.stringMatching(/^(?!project ).* not found$/)
const unknownRecord = (name: string) =>
  refersToRecords.includes(name)
    ? { status: 400, error: 'invalid_parameter' }
    : { status: 404, error: recordNotFound }

/** The answer to a project key that names another project (spec: Project-scoped key behavior, Errors). */
function refusalOf(route: Route): [number, string] {
  const { name } = route
  if (isClosedTo('project', route)) return [403, 'forbidden']
  if (/\/api\/v1\/(pixel|project)\//.test(name)) return [401, 'Invalid API key']
  if (/audiences(?!\/linkage-usage)/.test(name)) return [403, 'access denied']
  if (
    /\/(lists|exports|integrations|campaigns|webhooks|billing\/usage|requests|resolution\/statistics)|linkage-usage/.test(
      name,
    )
  )
    return [403, 'project_id does not match API key scope']
  return [404, 'project not found']
}

test('every route for records of projects takes a project', () => {
  const deaf = routes()
    .filter(({ places }) => places.length === 0)
    .filter(
      ({ access, namesRecord }) =>
        namesRecord || (access.to === 'key' && access.projectKeys === 'own project'),
    )
  // It lists all projects of the caller.
  expect(deaf.map(({ name }) => name)).toEqual(['GET /api/v1/whoami'])
})

describe('a request that names a project', { timeout: 600_000 }, () => {
  describe.each(['organization', 'project'] as const)('with a key of the %s', (by) => {
    test.each(['other', 'foreign'] as const)(
      'gets the contract’s refusal for a project that is %s',
      async (named) => {
        const before = await stateOf(service.postgres, service.ours)
        for (const { headers, place, ...route } of cases(by, named)) {
          if (isIntent(route.name)) continue
          const isRefused = by === 'project' || named === 'foreign' || route.namesRecord
          if (!isRefused) continue
          const answer = await ask(route.name, headers, place)
          if (by === 'project') {
            const [status, error] = refusalOf(route)
            expect(answer).toMatchObject({ name: route.name, named: place, status, error })
          } else if (named === 'foreign') {
            expect(answer).toMatchObject({
              name: route.name,
              named: place,
              status: 404,
              error: 'project not found',
            })
          } else {
            expect(answer).toMatchObject({
              name: route.name,
              named: place,
              ...unknownRecord(route.name),
            })
          }
        }
        expect(await stateOf(service.postgres, service.ours)).toEqual(before)
      },
    )

    test('is 400 for a project_id that is no UUID', async () => {
      for (const { headers, place, ...route } of cases(by, 'malformed')) {
        const answer = await ask(route.name, headers, place)
        const expected = isClosedTo(by, route)
          ? { status: 403 }
          : { status: 400, parameter: place.header === undefined ? 'project_id' : 'X-Project-Id' }
        expect(answer).toMatchObject({ name: route.name, named: place, ...expected })
      }
    })

    test('is 400 for a header and a parameter that differ', async () => {
      for (const { headers, place, ...route } of cases(by, 'own')) {
        if (place.header !== undefined) continue
        const answer = await ask(route.name, headers, { ...place, header: projectId('other') })
        const status = isClosedTo(by, route) ? 403 : 400
        expect(answer).toMatchObject({ name: route.name, named: place, status })
      }
    })

    test('is answered for its own project', async () => {
      for (const { headers, place, ...route } of cases(by, 'own')) {
        if (route.name.startsWith('DELETE')) continue
        const answer = await ask(route.name, headers, place)
        const isExpected = isClosedTo(by, route) ? answer.status === 403 : isAnswered(answer.status)
        expect(isExpected, JSON.stringify(answer)).toBe(true)
      }
    })
  })

  test('with a key of the organization is answered for the project that it names, and no other', async () => {
    for (const { headers, place, ...route } of cases('organization', 'other')) {
      if (route.namesRecord || route.name.startsWith('DELETE')) continue
      const answer = await ask(route.name, headers, place)
      expect(isAnswered(answer.status), JSON.stringify(answer)).toBe(true)
      expect(answer.text, route.name).not.toContain(service.ours.projects[0])
    }
  })

  test('finds no audience of another project for intent', async () => {
    const { audiences } = service.ours
    const find = (path: string, key: 'organization' | 'project', header: string) =>
      service.app.inject({
        method: 'POST',
        url: `/api/v1/intent/people${path}`,
        headers: { ...callers[key], 'x-project-id': header },
        payload: { topic: 'golf', audience_id: audiences[0] },
      })
    for (const path of ['', '/preview']) {
      for (const key of ['organization', 'project'] as const) {
        expect((await find(path, key, projectId('own'))).statusCode).toBe(200)
        for (const named of ['other', 'foreign'] as const) {
          const answer = await find(path, key, projectId(named))
          expect([answer.statusCode, answer.json().error]).toEqual([404, 'audience not found'])
        }
      }
    }
  })

  test('delivers events to campaigns of that project alone', async () => {
    const event = {
      event_id: randomUUID(),
      event_type: 'click',
      campaign_id: service.ours.campaigns[0],
      ts: Date.now(),
      spend: 0,
    }
    const deliver = async (named: Named) => {
      const headers = { ...callers.organization, 'x-project-id': projectId(named) }
      const url = '/api/v1/campaigns/events'
      return (
        await service.app.inject({ method: 'POST', url, headers, payload: { events: [event] } })
      ).json()
    }
    expect(await deliver('own')).toEqual({ accepted: 1, rejected: [] })
    expect(await deliver('other')).toMatchObject({
      accepted: 0,
      rejected: [{ code: 'campaign_not_found' }],
    })
  })

  test('with a key of another project is refused the records of this one, though it names its own', async () => {
    for (const route of routes()) {
      const { name, access, places, namesRecord } = route
      if (places.length === 0 || !namesRecord || access.to === 'session' || places.includes('path'))
        continue
      const headers = withKey(service.ours.projectKey)
      const answer = await ask(name, headers, { header: service.ours.projects[1] })
      const keyRefused = /\/pixel\//.test(name)
        ? { status: 401, error: 'Invalid API key' }
        : unknownRecord(name)
      const expected = isClosedTo('project', route)
        ? { status: 403, error: 'forbidden' }
        : keyRefused
      expect(answer).toMatchObject({ name, ...expected })
    }
  })
})
