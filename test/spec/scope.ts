/** The project of a request: each project, in each place that can name it, by each kind of key (spec: X-Project-Id). */
import { expect } from 'vitest'
import { type Asked, isAnswered, matching, type Place, type Request, type Route } from './record.ts'
import { samples } from './samples.ts'
import { type Tenants, withKey } from './tenants.ts'

type By = 'organization' | 'project'
/** The project of the sample's records, another of the organization, one of another organization, and none. */
type Named = 'own' | 'other' | 'foreign' | 'malformed'

/** A request with the check of its answer, which returns null if the answer follows the contract. */
export interface ScopeCase {
  readonly route: Route
  readonly request: Request
  readonly expects: (answer: Asked) => object | null
}

const parts = { path: 'params', query: 'querystring', body: 'body' } as const

/** The places that can name a project; none for a route that takes no project. */
export function placesOf({ name, options: { schema } }: Route): Place[] {
  const takes = (place: keyof typeof parts) =>
    Object.hasOwn(
      (schema?.[parts[place]] as { properties?: object } | undefined)?.properties ?? {},
      'project_id',
    )
  const inRequest: Place[] = (Object.keys(parts) as (keyof typeof parts)[]).filter(
    // The body of a clone names the project that the clone is for.
    (place) => takes(place) && !(place === 'body' && name.endsWith('/clone')),
  )
  // A list is created by JSON or by a file, so no schema of Fastify's has its members.
  if (name === 'POST /api/v1/lists') inRequest.push('body')
  return inRequest.length === 0 ? [] : ['header', ...inRequest]
}

/** Whether the sample names a record of the first project, which another project does not have. */
export function namesRecord({ ours }: Tenants, { name }: Route): boolean {
  const { params, query, body } = samples[name]!
  const sent = JSON.stringify([params?.(ours), query?.(ours), body?.(ours)])
  const pairs = [
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
    ours.audiences,
    ours.builds,
    ours.lists,
    ours.imports,
  ]
  return [...pairs.map(([first]) => first), ours.sentExport, ours.sentRun].some((id) =>
    sent.includes(id),
  )
}

const isClosedTo = (by: By, { access }: Route): boolean =>
  by === 'project' && access.to === 'key' && access.projectKeys === 'refused'

/** Intent data belongs to no project: the project is the one of an `audience_id`, which the samples do not name. */
const isIntent = ({ name }: Route): boolean => name.includes('/api/v1/intent/')
/** Its body refers to records of the project, and a body that is wrong is 400. */
const refersToRecords = ['POST /api/v1/exports', 'POST /api/v1/archives']
const unknownRecord = ({ name }: Route) =>
  refersToRecords.includes(name)
    ? { status: 400, error: 'invalid_parameter' }
    : { status: 404, error: expect.stringMatching(/^(?!project ).* not found$/) }

/** The answer to a project key that names another project (spec: Project-scoped key behavior, Errors). */
function refusalOf(route: Route): { status: number; error: string } {
  const { name } = route
  if (isClosedTo('project', route)) return { status: 403, error: 'forbidden' }
  if (/\/api\/v1\/(pixel|project)\//.test(name)) return { status: 401, error: 'Invalid API key' }
  if (/audiences(?!\/linkage-usage)/.test(name)) return { status: 403, error: 'access denied' }
  return /\/(lists|exports|integrations|campaigns|webhooks|billing\/usage|requests|resolution\/statistics)|linkage-usage/.test(
    name,
  )
    ? { status: 403, error: 'project_id does not match API key scope' }
    : { status: 404, error: 'project not found' }
}

/** Every request that must be refused. */
export async function refusedScopes(tenants: Tenants, routes: readonly Route[]) {
  const session = await tenants.withSession(tenants.ours.owner)
  return [
    ...(['organization', 'project'] as const).flatMap((by) => [
      ...(['other', 'foreign'] as const).flatMap((named) =>
        casesOf(tenants, routes, session, by, named).flatMap((each): ScopeCase[] => {
          const { route } = each
          const expected = () => {
            if (isIntent(route)) return null
            if (by === 'project') return refusalOf(route)
            if (named === 'foreign') return { status: 404, error: 'project not found' }
            return namesRecord(tenants, route) ? unknownRecord(route) : null
          }
          const refusal = expected()
          return refusal ? [{ ...each, expects: (answer) => matching(answer, refusal) }] : []
        }),
      ),
      ...casesOf(tenants, routes, session, by, 'malformed').map(
        (each): ScopeCase => ({
          ...each,
          expects: (answer) =>
            matching(
              answer,
              isClosedTo(by, each.route)
                ? { status: 403 }
                : {
                    status: 400,
                    parameter: each.request.named!.header ? 'X-Project-Id' : 'project_id',
                  },
            ),
        }),
      ),
      // A header and a parameter that differ.
      ...casesOf(tenants, routes, session, by, 'own')
        .filter(({ request }) => request.named!.header === undefined)
        .map(
          ({ route, request }): ScopeCase => ({
            route,
            request: {
              ...request,
              named: { ...request.named, header: tenants.ours.projects[1] },
            },
            expects: (answer) => matching(answer, { status: isClosedTo(by, route) ? 403 : 400 }),
          }),
        ),
    ]),
    ...othersRecords(tenants, routes),
  ]
}

/** A key of another project, for the records of this one, though it names its own. */
const othersRecords = (tenants: Tenants, routes: readonly Route[]): ScopeCase[] =>
  routes
    .filter((route) => {
      const places = placesOf(route)
      const takesProject = places.length > 0 && !places.includes('path')
      return takesProject && namesRecord(tenants, route) && route.access.to !== 'session'
    })
    .map((route) => ({
      route,
      request: {
        who: 'with a key of another project, which is named',
        headers: withKey(tenants.ours.projectKey),
        tenant: tenants.ours,
        named: { header: tenants.ours.projects[1] },
      },
      expects: (answer) => {
        if (isClosedTo('project', route))
          return matching(answer, { status: 403, error: 'forbidden' })
        const isPixel = /\/pixel\//.test(route.name)
        return matching(
          answer,
          isPixel ? { status: 401, error: 'Invalid API key' } : unknownRecord(route),
        )
      },
    }))

/** Every request that must be answered: for the caller's own project, and by the organization's key for the other one. */
export async function answeredScopes(tenants: Tenants, routes: readonly Route[]) {
  const session = await tenants.withSession(tenants.ours.owner)
  const isKept = ({ route }: { route: Route }) => !route.name.startsWith('DELETE')
  return [
    ...(['organization', 'project'] as const).flatMap((by) =>
      casesOf(tenants, routes, session, by, 'own')
        .filter(isKept)
        .map(
          (each): ScopeCase => ({
            ...each,
            expects: (answer) => {
              if (isClosedTo(by, each.route)) return matching(answer, { status: 403 })
              return isAnswered(answer.status) ? null : { status: answer.status, text: answer.text }
            },
          }),
        ),
    ),
    ...casesOf(tenants, routes, session, 'organization', 'other')
      .filter((each) => isKept(each) && !namesRecord(tenants, each.route))
      .map(
        (each): ScopeCase => ({
          ...each,
          expects: ({ status, text }) => {
            if (!isAnswered(status)) return { status, text }
            return text.includes(tenants.ours.projects[0]) ? { told: 'the first project' } : null
          },
        }),
      ),
  ]
}

/** Each route in each of its places, as a caller that may ask it; the path names its project whatever else does. */
function casesOf(
  tenants: Tenants,
  routes: readonly Route[],
  session: Record<string, string>,
  by: By,
  named: Named,
): Omit<ScopeCase, 'expects'>[] {
  const { ours, theirs } = tenants
  const project = {
    own: ours.projects[0],
    other: ours.projects[1],
    foreign: theirs.projects[0],
    malformed: 'nonsense',
  }[named]
  const key = withKey(by === 'organization' ? ours.key : ours.firstKey)
  return routes
    .filter(({ access }) => !(by === 'project' && access.to === 'session'))
    .flatMap((route) => {
      const places = placesOf(route)
      return places
        .filter((place) => place === 'path' || !places.includes('path'))
        .map((place) => ({
          route,
          request: {
            who: `with a key of the ${by}, ${named} project in the ${place}`,
            headers: route.access.to === 'session' ? session : key,
            tenant: ours,
            named: { [place]: project },
          },
        }))
    })
}
